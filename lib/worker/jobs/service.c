/*
 * service.c - service threads. They make slow driver calls, so that one tenant's compilation holds
 * up neither another tenant's allocation nor any launch.
 *
 * Jobs come in through lock-free stacks, so that the main lane never waits for a service thread.
 * The service thread that wakes first puts them in order, under a lock that only service threads
 * take.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/log_allowance.h"
#include "common/log_event.h"
#include "common/util.h"
#include "common/yield.h"
#include "worker/driver/prewake.h"
#include "worker/driver/wake.h"
#include "worker/jobs/job.h"
#include "worker/jobs/pace.h"
#include "worker/jobs/served.h"

#define THREADS_MAX 4u

/* A group of threads that serve one kind of job. There are four groups:
 *   - quick: jobs that do not wait for the device (attaching, allocating), which must not be held
 *     up by those that do;
 *   - patient: jobs that may wait for the device, or compile;
 *   - brief: loads of short texts, which must not wait behind long ones: enough users could fill
 *     any number of threads with those;
 *   - quiet: jobs that need a quiet moment. All sessions are paused during such a job, so it must
 *     not wait behind compilations.
 *
 * The jobs of one user get all threads of a group but one at most, and the user with the fewest
 * threads is served first, so that no user's slow jobs hold up another's. Of several such users,
 * the one that was served longest ago is first (served.h). A compilation may take minutes and
 * cannot be stopped. So among the patient threads, the compilations of all users together leave one
 * thread free, and those of one user leave another one free for the others' compilations. A
 * compilation also waits while its user has used more than its share of a CPU. Only one suspect's
 * compilation (workers/suspects.h) runs at a time, so that a crash of the compiler tells whose it
 * was.
 *
 * A load begins among the brief threads. It is finished there if its text is short or needs no
 * compiling, and otherwise begins again among the patient ones (job_takes_long). */
struct thread_group {
    const char *name;            /* the threads' name, which ps -L and gdb show */
    uint32_t threads, spare;     /* spare: how many of these threads compilations leave free */
    _Atomic(struct job *) inbox; /* newest first */
    sem_t *ready;                /* counts jobs, and wake-ups without a job */
    sem_t own;
    pthread_mutex_t lock; /* protects the rest */
    struct job *first;    /* oldest first */
    /* the users whose jobs the threads have, and how many jobs that are */
    uint32_t uid[THREADS_MAX], running;
    uint32_t compiling; /* how many of these jobs compile */
    struct served served;
    uint64_t due_ns; /* when the first job that waits for a time may begin; 0: none does */
};
static struct thread_group quick = {
    .name = "gs-quick", .threads = THREADS_MAX, .lock = PTHREAD_MUTEX_INITIALIZER};
static struct thread_group patient = {
    .name = "gs-patient", .threads = THREADS_MAX, .spare = 1, .lock = PTHREAD_MUTEX_INITIALIZER};
static struct thread_group brief = {
    .name = "gs-brief", .threads = THREADS_MAX - 1, .lock = PTHREAD_MUTEX_INITIALIZER};
static struct thread_group quiet = {
    .name = "gs-quiet", .threads = 1, .lock = PTHREAD_MUTEX_INITIALIZER};

/* The users' accounts of CPU time for compiling. This lock may be taken while a group's is held. */
static struct {
    pthread_mutex_t lock;
    struct pace pace;
} accounts = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* How many jobs are on their way to a service thread or with one. A job that compiles counts only
 * once it has begun: it may wait long for its user's share, and the next worker carries it out
 * again. */
static _Atomic uint32_t jobs_out;

/* A suspect's compilation is under way, in any group. */
static _Atomic bool suspect_compiles;

static _Thread_local CUstream own_stream;

CUstream service_stream(void)
{
    return own_stream;
}

static struct thread_group *thread_group_of(const struct job *job)
{
    if (job->kind->flags & JOB_QUIET)
        return &quiet;
    if (job->brief)
        return &brief;
    return job->kind->flags & JOB_PATIENT ? &patient : &quick;
}

void service_push(struct job *job)
{
    struct thread_group *thread_group = thread_group_of(job);
    struct job *head = atomic_load_explicit(&thread_group->inbox, memory_order_relaxed);

    if (!(job->kind->flags & JOB_COMPILES))
        atomic_fetch_add_explicit(&jobs_out, 1, memory_order_relaxed);
    do {
        job->next = head;
        /* release: publishes the job's contents, for the exchange in pop() */
    } while (!atomic_compare_exchange_weak_explicit(&thread_group->inbox, &head, job,
                                                    memory_order_release, memory_order_relaxed));
    sem_post(thread_group->ready);
}

/* Wakes threads that check whether a waiting job may begin to compile now. */
static void look_again(void)
{
    sem_post(patient.ready);
    sem_post(brief.ready);
}

void service_compile_limit(struct session *session, uint32_t percent)
{
    const uint32_t before =
        atomic_exchange_explicit(&session->jobs.compile_percent, percent, memory_order_relaxed);

    if (before != percent && session->jobs.current)
        look_again();
}

void service_closing(struct session *session)
{
    atomic_store_explicit(&session->jobs.closing, true, memory_order_relaxed);
    if (session->jobs.current)
        look_again();
}

bool service_idle(void)
{
    /* acquire: pairs with the end of a job in service_main */
    return atomic_load_explicit(&jobs_out, memory_order_acquire) == 0;
}

/* Returns how many of the group's threads have jobs of the user. */
static uint32_t running_of(const struct thread_group *thread_group, uint32_t uid)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < thread_group->running; i++)
        count += uid != JOB_NOBODY && thread_group->uid[i] == uid;
    return count;
}

/* Appends the jobs of the inbox to the waiting jobs. */
static void inbox_take(struct thread_group *thread_group)
{
    /* acquire: pairs with service_push */
    struct job *job = atomic_exchange_explicit(&thread_group->inbox, NULL, memory_order_acquire);
    struct job *came = NULL, **end = &thread_group->first;

    while (job) {
        struct job *older = job->next;
        job->next = came;
        came = job;
        job = older;
    }
    while (came && *end)
        end = &(*end)->next;
    if (came)
        *end = came;
}

static uint32_t compile_percent(const struct job *job)
{
    return atomic_load_explicit(&job->session->jobs.compile_percent, memory_order_relaxed);
}

/* Allows one line per minute and user, because a user may load modules without end. */
static struct log_allowance held_allowance = LOG_ALLOWANCE(1, 60000000000u);

static void held_log(const struct session *session, uint32_t percent, uint64_t ns)
{
    struct log_event event = log_event_begin("compile-held");

    if (!log_allowance_take(&held_allowance, session->uid))
        return;
    log_event_text(&event, "user", session->user);
    log_event_number(&event, "uid", session->uid);
    log_event_number(&event, "session", session->id);
    log_event_number(&event, "percent", percent);
    log_event_number(&event, "wait_ms", ns / 1000000u);
    log_event_write(&event, LOG_LEVEL_INFO);
}

/* Returns whether the job is going to compile. A closing session does not compile any more
 * (job.h). */
static bool is_to_compile(const struct job *job)
{
    return (job->kind->flags & JOB_COMPILES) &&
           !atomic_load_explicit(&job->session->jobs.closing, memory_order_relaxed);
}

static bool is_suspect(const struct job *job, uint64_t now)
{
    return is_to_compile(job) && job->session->jobs.suspect_ns > now;
}

/* Notes when a waiting job of the group may begin. */
static void due_note(struct thread_group *thread_group, uint64_t due)
{
    if (!thread_group->due_ns || due < thread_group->due_ns)
        thread_group->due_ns = due;
}

/* Returns whether the job compiles and must wait, because of other compilations or because its user
 * has used up its share of a CPU. Notes in the group when the job may begin, if that is a matter of
 * time. running: how many threads of the group its user has. */
static bool kept_back(struct thread_group *thread_group, const struct job *job, uint32_t running,
                      uint64_t now)
{
    uint64_t due;

    if (!is_to_compile(job))
        return false;
    if (is_suspect(job, now) && atomic_load_explicit(&suspect_compiles, memory_order_relaxed)) {
        due_note(thread_group, job->session->jobs.suspect_ns);
        return true;
    }
    if (thread_group->compiling + thread_group->spare >= thread_group->threads ||
        running + thread_group->spare + 1 >= thread_group->threads)
        return true;
    pthread_mutex_lock(&accounts.lock);
    due = pace_due(&accounts.pace, job_uid(job), compile_percent(job), now);
    pthread_mutex_unlock(&accounts.lock);
    if (due <= now)
        return false;
    held_log(job->session, compile_percent(job), due - now);
    due_note(thread_group, due);
    return true;
}

/* Chooses the next job and returns the link to it; NULL: no job may begin now. The job is the
 * oldest of the user with the fewest threads or, among several such users, of the one served
 * longest ago. */
static struct job **choose(struct thread_group *thread_group, uint64_t now)
{
    const uint32_t most = thread_group->threads > 1 ? thread_group->threads - 1 : 1;
    uint32_t fewest = most, longest = 0;
    struct job **found = NULL;

    thread_group->due_ns = 0;
    for (struct job **at = &thread_group->first; *at; at = &(*at)->next) {
        const uint32_t running = running_of(thread_group, job_uid(*at));
        const uint32_t since = served_since(&thread_group->served, job_uid(*at));
        if (running >= most || (found && running > fewest) ||
            (found && running == fewest && since <= longest) ||
            kept_back(thread_group, *at, running, now))
            continue;
        fewest = running;
        longest = since;
        found = at;
    }
    return found;
}

/* Reserves the only place for a suspect's compilation, if the job is one. Returns false if another
 * group has just taken that place. */
static bool suspect_begin(struct job *job, uint64_t now)
{
    job->one_at_a_time = is_suspect(job, now);
    return !job->one_at_a_time ||
           !atomic_exchange_explicit(&suspect_compiles, true, memory_order_relaxed);
}

static void suspect_end(void)
{
    atomic_store_explicit(&suspect_compiles, false, memory_order_relaxed);
    look_again();
}

/* Takes the next job; NULL: none may begin now. *due: when the first job that waits for a time may
 * begin; 0: none does. */
static struct job *pop(struct thread_group *thread_group, uint64_t *due)
{
    struct job **found, *job = NULL;
    const uint64_t now = clock_ns();

    pthread_mutex_lock(&thread_group->lock);
    inbox_take(thread_group);
    do
        found = choose(thread_group, now);
    while (found && !suspect_begin(*found, now));
    if (found) {
        job = *found;
        *found = job->next;
        if (job->kind->flags & JOB_COMPILES) {
            atomic_fetch_add_explicit(&jobs_out, 1, memory_order_relaxed);
            thread_group->compiling++;
        }
        thread_group->uid[thread_group->running++] = job_uid(job);
        served_note(&thread_group->served, job_uid(job));
    }
    *due = thread_group->due_ns;
    /* This thread will be busy, so it wakes another one, which takes one of the remaining jobs or
     * waits until one may begin. */
    const bool watch = job && thread_group->first;
    pthread_mutex_unlock(&thread_group->lock);
    if (watch)
        sem_post(thread_group->ready);
    return job;
}

/* Notes that the calling thread is done with a job of this user. Wakes a thread if jobs wait: a job
 * that could not begin meanwhile, because too many threads were busy, has used up its own
 * wake-up. */
static void pop_end(struct thread_group *thread_group, uint32_t uid, bool compiled)
{
    uint32_t i = 0;

    pthread_mutex_lock(&thread_group->lock);
    while (thread_group->uid[i] != uid)
        i++;
    thread_group->uid[i] = thread_group->uid[--thread_group->running];
    thread_group->compiling -= compiled;
    const bool waits = thread_group->first;
    pthread_mutex_unlock(&thread_group->lock);
    if (waits)
        sem_post(thread_group->ready);
}

/* Waits until the semaphore is posted or, unless `due` is 0, until that time. While the quiet
 * thread is pre-woken, it stays awake instead, unless yields return late. */
static void thread_group_wait(struct thread_group *thread_group, uint64_t due)
{
    const struct timespec until = {(time_t)(due / 1000000000u), (long)(due % 1000000000u)};

    if (due) {
        while (sem_clockwait(thread_group->ready, CLOCK_MONOTONIC, &until) && errno == EINTR)
            ;
        return;
    }
    for (uint64_t now = clock_ns();
         thread_group == &quiet && !yields_late(now) && prewake_pending(PREWAKE_QUIET, now);
         now = clock_ns()) {
        if (sem_trywait(thread_group->ready) == 0)
            return;
        yield_timed();
    }
    while (sem_wait(thread_group->ready))
        ;
}

static uint64_t thread_cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns to the system the memory that a large text took, most of which the C library would keep
 * for good. Only one thread calls malloc_trim at a time: if another allocator replaces the
 * library's, the first call sets up the library's own state, and two calls at once would break
 * it. */
static void memory_give_back(void)
{
    static pthread_mutex_t trimming = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&trimming);
    malloc_trim(0);
    pthread_mutex_unlock(&trimming);
}

/* Does the job's work. Charges the user of a job that compiles with the CPU time of this thread and
 * of the driver's threads that helped it. */
static void job_work(struct job *job)
{
    const bool compiles = job->kind->flags & JOB_COMPILES;
    const uint64_t began = compiles ? thread_cpu_ns() : 0;

    job->kind->work(job);
    if (!compiles)
        return;
    if (!job->brief)
        memory_give_back();
    pthread_mutex_lock(&accounts.lock);
    pace_take(&accounts.pace, job_uid(job), compile_percent(job),
              thread_cpu_ns() - began + job->helpers_ns, clock_ns());
    pthread_mutex_unlock(&accounts.lock);
}

/* Returns the job to the main lane, or passes it to the patient threads if it has turned out to
 * take long. */
static void job_pass_on(const struct thread_group *thread_group, struct job *job)
{
    if (thread_group != &brief || job->brief) {
        job_return(job);
        return;
    }
    job->status = GS_OK;
    job->message[0] = '\0';
    service_push(job);
}

static void *service_main(void *argument)
{
    struct thread_group *thread_group = argument;
    uint64_t due = 0;

    DRV_MUST(cuCtxSetCurrent, worker->context);
    DRV_MUST(cuStreamCreate, &own_stream, CU_STREAM_NON_BLOCKING);
    for (;;) {
        thread_group_wait(thread_group, due);
        struct job *job = pop(thread_group, &due);
        if (!job)
            continue;
        if (thread_group == &quiet)
            prewake_met(PREWAKE_QUIET);
        const uint32_t uid = job_uid(job);
        /* the job may be back before its work returns, so it is not touched afterwards */
        const bool asks = job->kind->flags & JOB_ASKS;
        const bool compiles = job->kind->flags & JOB_COMPILES, one_at_a_time = job->one_at_a_time;
        job_work(job);
        if (!asks)
            job_pass_on(thread_group, job);
        pop_end(thread_group, uid, compiles);
        if (one_at_a_time)
            suspect_end();
        /* release: publishes the job's effects; pairs with service_idle */
        atomic_fetch_sub_explicit(&jobs_out, 1, memory_order_release);
    }
    return NULL;
}

static bool thread_group_start(struct thread_group *thread_group)
{
    thread_group->ready = thread_group == &quiet ? quiet_semaphore() : &thread_group->own;
    sem_init(thread_group->ready, 0, 0);
    for (uint32_t i = 0; i < thread_group->threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, service_main, thread_group))
            return false;
        pthread_setname_np(thread, thread_group->name);
        pthread_detach(thread);
    }
    return true;
}

bool service_start(void)
{
    return thread_group_start(&quick) && thread_group_start(&patient) &&
           thread_group_start(&brief) && thread_group_start(&quiet);
}

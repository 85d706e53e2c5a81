/*
 * dispatch.c - the dispatcher: one thread that polls sessions, drains their rings and hands the
 * work to the device. One does this best: several contend for the driver's lock.
 *
 * A session is hot (its activity word is polled) or cold (its client rings the doorbell after
 * setting the word). Without hot sessions and without anything to watch, the thread sleeps in
 * poll(). Nothing a tenant does makes it wait: jobs go to and come from other threads through
 * lock-free stacks.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/log.h"
#include "common/ring.h"
#include "common/util.h"
#include "worker/grant.h"
#include "worker/graph.h"
#include "worker/graveyard.h"
#include "worker/parked.h"
#include "worker/record.h"
#include "worker/report.h"
#include "worker/request.h"
#include "worker/session.h"
#include "worker/stream.h"

#define REQUEST_BIT (UINT64_C(1) << SEG_REQUEST_BIT)

#define DRAIN_BUDGET   64u        /* records of a stream a turn */
#define CROWD_NS       30000u     /* what "shortly before" means for a crowd: a few round trips */
#define HOT_NS         200000u    /* a session stays polled so long after its last activity */
#define BELL_NS        100000000u /* how often the doorbell is emptied while awake */
#define COLD_A_TURN    4u         /* cold sessions looked at in each turn while awake */
#define WATCH_NS       5000000u   /* how often a busy device is asked whether it still lives */
#define WATCH_SESSIONS 16u        /* sessions asked each time */

static struct {
    mqd_t bell;
    int wake;                    /* eventfd: the inbox has something */
    _Atomic(struct job *) inbox; /* newest first */
    _Atomic bool asleep;

    struct session *slots[LINK_SLOTS_MAX];
    uint32_t slots_used; /* slots at and beyond this are NULL */
    struct session *hot[LINK_SLOTS_MAX];
    uint32_t hot_count;
    uint32_t crowd; /* sessions that had something new in this turn or shortly before */
    uint64_t now, next_bell, next_watch;
    uint32_t watch_cursor, cold_cursor;
    bool busy; /* some stream may have unfinished work */

    _Atomic CUresult lost; /* a service thread met a lost context */
} d;
static _Thread_local bool on_dispatcher;

static void wake_up(void)
{
    static const uint64_t one = 1;

    if (atomic_load(&d.asleep) && write(d.wake, &one, sizeof(one)) < 0 && errno != EAGAIN)
        log_error("eventfd: %s", strerror(errno));
}

/* ---- A lost context -------------------------------------------------------------------------- */

/* The only session with unfinished work is the one to blame for a lost context. By its completion
 * words: the device writes none after a fault, and what had ended before is not suspect.
 * One that is being closed is in no slot any more, but waits among the parked. */
static struct session *only_busy(void)
{
    struct session *found = NULL;

    for (uint32_t i = 0; i < d.slots_used; i++) {
        if (!d.slots[i] || session_seems_idle(d.slots[i]))
            continue;
        if (found)
            return NULL;
        found = d.slots[i];
    }
    for (const struct job *job = parked_first(); job; job = job->next) {
        struct session *session = job->session;
        if (!session || session == found || session_seems_idle(session))
            continue;
        if (found)
            return NULL;
        found = session;
    }
    return found;
}

void dispatch_lost(CUresult result)
{
    if (!on_dispatcher) { /* whom to blame stands in the dispatcher's tables */
        atomic_store(&d.lost, result);
        wake_up();
        for (;;)
            pause();
    }
    const struct session *blame = only_busy();

    worker_fatal(result, blame, blame ? stream_unfinished(blame) : 0);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

void dispatch_push(struct job *job)
{
    struct job *head = atomic_load_explicit(&d.inbox, memory_order_relaxed);

    do {
        job->next = head;
        /* seq_cst: the job before the look at `asleep`; pairs with sleep_until_woken */
    } while (!atomic_compare_exchange_weak(&d.inbox, &head, job));
    wake_up();
}

static void job_begin(struct job *job);
static void session_heat(struct session *session);

void dispatch_route(struct job *job)
{
    if (!(job->kind->flags & (JOB_QUIESCE | JOB_QUIET))) {
        service_push(job);
        return;
    }
    parked_add(job, d.now);
}

/* The session's turn is its next chore's; false: it has none. */
static bool chore_begin(struct session *session)
{
    struct job *job = session->chores;

    if (!job)
        return false;
    session->chores = job->next;
    session->job = job;
    job_begin(job);
    return true;
}

static void chore_take(struct job *job)
{
    struct session *session = d.slots[job->index];

    if (!session || session->id != job->arg[0]) {
        job_free(job);
        return;
    }
    job->session = session;
    job->next = session->chores;
    session->chores = job;
    if (!session->job)
        chore_begin(session);
}

static void close_begin(struct session *session, struct job *job)
{
    while (session->chores) {
        struct job *chore = session->chores;
        session->chores = chore->next;
        job_free(chore);
    }
    session->job = job;
    job_begin(job);
}

/* A tenant's request has its answer, or a chore is done. */
static void request_end(struct job *job)
{
    struct session *session = job->session;

    if (!(job->kind->flags & JOB_CHORE))
        request_answer(job);
    session->job = NULL;
    partition_release(job->partition);
    job_free(job);
    if (session->close)
        close_begin(session, session->close);
    else if (chore_begin(session))
        return;
    else if (session->phase == SESSION_LIVE)
        session_heat(session); /* it may have gone cold with records that had to wait for the job */
}

static void job_begin(struct job *job)
{
    if (job->kind->prepare)
        job->kind->prepare(job);
    if (job->status != GS_OK || !job->kind->work)
        request_end(job);
    else
        dispatch_route(job);
}

static void session_heat(struct session *session)
{
    session->active_ns = d.now;
    if (session->hot)
        return;
    session->hot = true;
    session->hot_index = d.hot_count;
    d.hot[d.hot_count++] = session;
    /* Its client need not ring now. A ring that is under way is read and ignored. */
    atomic_store_explicit(&session->server->need_bell, 0, memory_order_relaxed);
}

static void session_unlist(struct session *session)
{
    if (!session->hot)
        return;
    session->hot = false;
    struct session *last = d.hot[--d.hot_count];
    d.hot[session->hot_index] = last;
    last->hot_index = session->hot_index;
}

/* Stops polling a session, unless it turns out to have just become active. */
static void session_cool(struct session *session)
{
    /* seq_cst on both: the client sets activity, then reads need_bell; here the other way round, so
     * one of the two sees the other. */
    atomic_store(&session->server->need_bell, 1);
    if (atomic_load(&session->client->activity) != 0) {
        atomic_store_explicit(&session->server->need_bell, 0, memory_order_relaxed);
        session->active_ns = d.now;
        return;
    }
    session_unlist(session);
}

static void open_end(struct job *job)
{
    struct session *session = job->session;

    if (job->status == GS_OK) {
        d.slots[session->slot] = session;
        if (session->slot >= d.slots_used)
            d.slots_used = session->slot + 1;
        session_heat(session);
        grant_apply(session, &job->grant, job->partition);
    }
    session_opened(job);
    if (job->status != GS_OK) {
        partition_release(job->partition);
        free(session);
    }
    job_free(job);
}

/* The control thread wants a session closed. */
static void close_request(struct job *job)
{
    struct session *session = d.slots[job->index];

    if (!session) {
        job_free(job);
        return;
    }
    job->session = session;
    d.slots[session->slot] = NULL;
    session_unlist(session);
    grant_cancel(session);
    session->phase = SESSION_CLOSING;
    session->pending = 0;
    if (session->job)
        session->close = job;
    else
        close_begin(session, job);
}

/* A grant for a session that is being closed is answered by nobody, for nobody waits. */
static void grant_request(struct job *job)
{
    job->session = d.slots[job->index];
    if (job->session)
        grant_take(job);
    else
        job_free(job);
}

static void job_returned(struct job *job)
{
    struct session *session = job->session;

    if (parked_returned(job))
        return;
    if (partition_returned(job)) {
        grants_poll();
    } else if (job->kind == &job_open_place) {
        grant_take(job);
    } else if (job->kind == &job_grant) {
        grant_request(job);
    } else if (job->kind == &job_open) {
        open_end(job);
    } else if (job->kind == &job_close && !session) {
        close_request(job);
    } else if (job->kind->flags & JOB_CHORE && !session) {
        chore_take(job);
    } else if (job->kind == &job_unload_all) {
        grant_drop(session);
        free(session);
        job_free(job);
    } else {
        if (job->status == GS_OK && job->kind->install)
            job->kind->install(job);
        if (job->status == GS_OK && job->kind->then) {
            job->kind = job->kind->then;
            dispatch_route(job);
            return;
        }
        session->paused = false;
        request_end(job);
    }
}

static void inbox_take(void)
{
    struct job *first = NULL;

    if (!atomic_load_explicit(&d.inbox, memory_order_relaxed))
        return;
    /* acquire: the jobs' contents; pairs with dispatch_push */
    for (struct job *job = atomic_exchange_explicit(&d.inbox, NULL, memory_order_acquire); job;) {
        struct job *older = job->next;
        job->next = first;
        first = job;
        job = older;
    }
    while (first) {
        struct job *job = first;
        first = job->next;
        job_returned(job);
    }
}

/* ---- Sessions -------------------------------------------------------------------------------- */

static bool session_drain(struct session *session)
{
    uint64_t streams = session->pending & ~REQUEST_BIT;
    bool progress = false;

    while (streams) {
        uint32_t index = (uint32_t)__builtin_ctzll(streams);
        bool stalled;
        uint32_t taken = stream_drain(session, index, DRAIN_BUDGET, &stalled);

        streams &= streams - 1;
        progress = progress || taken > 0;
        if (taken < DRAIN_BUDGET && !stalled)
            session->pending &= ~(UINT64_C(1) << index);
    }
    return progress;
}

/* First pass of a turn: takes the activity word and fetches ahead what the second pass reads, so
 * that the other processor's cache lines of many sessions come at the same time. */
static void session_look(struct session *session)
{
    /* In step, tenants come one a turn: what counts is who came lately. */
    if (d.now - session->active_ns < CROWD_NS)
        d.crowd++;
    if (!atomic_load_explicit(&session->client->activity, memory_order_relaxed))
        return;
    /* seq_cst: taken before the tails are read; pairs with the client's store of its tail */
    session->pending |= atomic_exchange(&session->client->activity, 0);
    session->active_ns = d.now;
    for (uint64_t left = session->pending & ~REQUEST_BIT; left; left &= left - 1) {
        uint32_t index = (uint32_t)__builtin_ctzll(left);
        const unsigned char *ring =
            session->segment + SEG_OFF_RINGS + (size_t)index * SEG_RING_BYTES;
        uint64_t head = session->streams[index].head;
        __builtin_prefetch(&session->client->tail[index]);
        __builtin_prefetch(ring + ring_offset(head));
        __builtin_prefetch(ring + ring_offset(head + REC_ALIGN));
    }
}

/* Second pass. */
static void session_turn(struct session *session)
{
    bool active = session->reports_open > 0;

    if (session->pending && !session->paused) {
        if (session->pending & REQUEST_BIT && !session->job) {
            session->pending &= ~REQUEST_BIT;
            session->job = request_take(session);
            if (session->job)
                job_begin(session->job);
        }
        if (!session->paused && !parked_hold(d.now) && session_drain(session))
            d.busy = true;
        active = true;
    }
    if (session->reports_open)
        reports_poll(session);
    if (active)
        session->active_ns = d.now;
    else if (d.now - session->active_ns > HOT_NS)
        session_cool(session);
}

/* ---- Doorbell and device --------------------------------------------------------------------- */

static void cold_look(struct session *session)
{
    if (session && !session->hot &&
        atomic_load_explicit(&session->client->activity, memory_order_relaxed))
        session_heat(session);
}

/* While the dispatcher is awake it finds cold sessions that became active by looking at a few of
 * them in each turn: cheaper than a system call for the doorbell. */
static void cold_turn(void)
{
    for (uint32_t n = 0; n < COLD_A_TURN && n < d.slots_used; n++) {
        if (d.cold_cursor >= d.slots_used)
            d.cold_cursor = 0;
        cold_look(d.slots[d.cold_cursor++]);
    }
}

static void bell_take(void)
{
    uint32_t slot, messages = 0;
    ssize_t size;

    while ((size = mq_receive(d.bell, (char *)&slot, sizeof(slot), NULL)) >= 0) {
        messages++; /* a short one too: it took a place that another ring wanted */
        if (size == sizeof(slot) && slot < LINK_SLOTS_MAX)
            cold_look(d.slots[slot]);
        if (messages == BELL_QUEUE_DEPTH)
            break;
    }
    /* A full queue has turned rings away: look everywhere. */
    if (messages == BELL_QUEUE_DEPTH) {
        for (uint32_t i = 0; i < d.slots_used; i++)
            cold_look(d.slots[i]);
    }
}

bool sessions_idle(void)
{
    for (uint32_t i = 0; i < d.slots_used; i++) {
        if (d.slots[i] && !session_seems_idle(d.slots[i]))
            return false;
    }
    for (uint32_t i = 0; i < d.slots_used; i++) {
        if (d.slots[i] && !streams_idle(d.slots[i]))
            return false;
    }
    return true;
}

void sessions_leave_partition(struct partition *partition)
{
    for (uint32_t i = 0; i < d.slots_used; i++) {
        struct session *session = d.slots[i];
        if (!session || session->paused)
            continue;
        for (uint32_t n = 0; n < SEG_STREAMS; n++)
            launcher_leave(session->streams[n].launcher, partition);
        graphs_leave(session, partition);
    }
}

/* Asks some busy streams: finds a lost context even when no call is made, and forgets finished
 * work. */
static void device_watch(void)
{
    uint32_t asked = 0;

    d.busy = false;
    for (uint32_t n = 0; n < d.slots_used && asked < WATCH_SESSIONS; n++) {
        uint32_t i = (d.watch_cursor + n) % d.slots_used;
        if (!d.slots[i] || !d.slots[i]->busy)
            continue;
        asked++;
        if (!streams_idle(d.slots[i]))
            d.busy = true;
        if (asked == WATCH_SESSIONS) {
            d.watch_cursor = i + 1;
            d.busy = true; /* the others are still to be asked */
        }
    }
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* How long the thread may sleep when no session is hot; -1: until woken. */
static int sleep_ms(void)
{
    if (parked_first())
        return 1;
    return d.busy || graves_any() ? (int)(WATCH_NS / 1000000u) : -1;
}

static void sleep_until_woken(void)
{
    struct pollfd events[] = {{(int)d.bell, POLLIN, 0}, {d.wake, POLLIN, 0}};
    uint64_t count;

    /* seq_cst: asleep before the look at the inbox; pairs with dispatch_push */
    atomic_store(&d.asleep, true);
    if (!atomic_load(&d.inbox) && !atomic_load(&d.lost))
        poll(events, 2, sleep_ms());
    atomic_store_explicit(&d.asleep, false, memory_order_relaxed);
    if (read(d.wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
        log_error("eventfd: %s", strerror(errno));
    d.now = clock_ns();
    d.next_bell = 0;
}

bool dispatch_crowded(void)
{
    return d.crowd > 2;
}

/* Every tenant waits for this thread, so it goes before them where that is permitted (for root). */
static void priority_raise(void)
{
    if (setpriority(PRIO_PROCESS, (id_t)gettid(), -10))
        log_debug("the dispatcher runs at normal priority: %s", strerror(errno));
}

static void *dispatch_main(void *unused)
{
    (void)unused;
    on_dispatcher = true;
    priority_raise();
    DRV_MUST(cuCtxSetCurrent, worker.context);
    for (;;) {
        d.now = clock_ns();
        CUresult lost = atomic_load_explicit(&d.lost, memory_order_relaxed);
        if (lost) {
            driver_failed("a call of a service thread", lost);
            dispatch_lost(lost);
        }
        inbox_take();
        d.crowd = 0;
        for (uint32_t i = 0; i < d.hot_count; i++)
            session_look(d.hot[i]);
        for (uint32_t i = d.hot_count; i > 0; i--)
            session_turn(d.hot[i - 1]);
        cold_turn();
        if (d.now >= d.next_bell) {
            bell_take();
            d.next_bell = d.now + BELL_NS;
        }
        parked_poll(d.now);
        if ((d.busy || graves_any()) && d.now >= d.next_watch) {
            device_watch();
            graves_look(d.now);
            d.next_watch = d.now + WATCH_NS;
        }
        if (d.hot_count == 0)
            sleep_until_woken();
        else
            cpu_relax();
    }
    return NULL;
}

bool dispatch_start(void)
{
    pthread_t thread;

    d.bell = mq_open(worker.bell_name, O_RDONLY | O_NONBLOCK);
    if (d.bell == (mqd_t)-1) {
        log_error("doorbell %s: %s", worker.bell_name, strerror(errno));
        return false;
    }
    d.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (d.wake < 0 || pthread_create(&thread, NULL, dispatch_main, NULL))
        return false;
    pthread_detach(thread);
    return true;
}

/*
 * quiet.c - jobs that must wait for the device: until the work of their session is finished
 * (JOB_SESSION_IDLE), until a quiet moment, when the device has nothing to do at all (JOB_QUIET),
 * or until all sessions of a lost worker are taken up (JOB_TAKEN_UP).
 *
 * Runs on the main lane, which never waits itself but looks at these jobs now and then. Completion
 * words are asked first, since asking the driver takes its lock from launches. A tenant can falsify
 * its own words, so the driver's answer decides.
 */
#include "worker/session/quiet.h"

#include "worker/jobs/served.h"
#include "worker/memory/deferred_release.h"
#include "worker/memory/window.h"
#include "worker/sched/domain.h"
#include "worker/sched/session_table.h"
#include "worker/session/busy.h"
#include "worker/session/look.h"
#include "worker/session/pause.h"
#include "worker/session/polling.h"
#include "worker/submit/stream.h"

#define SIGNALLED_NS    100000u   /* how long a kernel may run on after it has signalled its end */
#define CONFIRM_NS      1000000u  /* how often the driver is asked though the words show work */
#define PATIENCE_NS     10000000u /* how long a job waits for a quiet moment by chance */
#define PAUSE_CUT_NS    96000000u /* a stream that is busy for longer is paused alone */
#define STREAM_PAUSE_NS 6000000000u /* the longest pause of single streams */
#define BESIDE_NS       20000000u /* most kernels end in that time; the session's new work waits */
#define LATELY_NS       2000000u  /* a set of SMs is made in 1.1 to 1.4 ms */
#define QUIET_LIMIT_NS  10000000000u /* after this a job that somebody waits for gives up */

static struct {
    struct job *first, **end;
    /* Of the jobs that wait, those for a quiet moment, and those of them that somebody waits for:
     * each round asks whether there are any. */
    uint32_t for_moment, pressing;
    struct look look;
    uint64_t next_confirm;
    /* the times of the last looks at which the device had work, and at which paused streams had
     * some: all jobs of one look get the same answer */
    uint64_t found_busy, found_paused;
    struct job *quiet_job; /* the job that has the device to itself */
    struct served served;  /* users whose jobs had it */
    uint64_t begun_ns;     /* when that job was given to its thread */
    uint64_t freed_ns;     /* when the last job gave the device back */
    struct {
        uint64_t end;  /* no new work of anybody goes out until then */
        uint64_t next; /* no new pause begins before */
        uint64_t ns;   /* the length of the last one; 0: it led to a quiet moment */
    } pause;
    struct {
        bool on;           /* some are paused: session->jobs.paused_streams */
        uint64_t begun_ns; /* valid while `on` */
        uint64_t ended_ns; /* since when the first of them has no work left; 0: all have some */
        uint64_t next;     /* no new one before */
    } stream_pause;
    _Atomic bool resuming; /* sessions are being taken up */
    bool releasing;        /* a job runs the deferred release */
} quiet = {.end = &quiet.first};

/* The completion words are asked first, which costs nothing, then the driver, because a tenant may
 * have falsified its words. */
bool sessions_idle(void)
{
    struct session *session;

    for (session = session_table_next(NULL); session; session = session_table_next(session)) {
        if (session_elsewhere(session) || !session_seems_idle(session))
            return false;
    }
    for (session = session_table_next(NULL); session; session = session_table_next(session)) {
        if (!streams_idle(session))
            return false;
    }
    return true;
}

/* ---- Pauses ---------------------------------------------------------------------------------- */

/*
 * Where no quiet moment comes by itself, all sessions are paused (pause.h) for 3 ms, then 6, 12 ...
 * up to a second and a half.
 *
 * A pause of 192 ms or more is cut after 96 ms. Streams on which the device has had work throughout
 * have long kernels: they alone are paused from then on (a stream pause) until that work has ended,
 * and then all streams are for a moment. So a quiet moment comes beside kernels of a second. A
 * stream pause ends after six seconds in any case, because a kernel may wait for what a paused
 * stream is to bring. Beside an endless kernel no quiet moment comes, and the job gives up.
 */

/* The streams of a session of the main lane on which the device has work. A session of a side lane
 * counts as idle here: its work is light, and quiet_any calls it back. */
static uint64_t busy_streams(const struct session *session)
{
    return session_elsewhere(session) ? 0 : session_busy_streams(session);
}

/* Pauses the streams that the device has work of. Their sessions' other streams go on: a kernel may
 * wait for what one of them is to bring. */
static void stream_pause_begin(uint64_t now)
{
    struct session *session;

    if (!quiet.stream_pause.on)
        quiet.stream_pause.begun_ns = now;
    for (session = session_table_next(NULL); session; session = session_table_next(session)) {
        const uint64_t busy = busy_streams(session);
        if (!busy)
            continue;
        session->jobs.paused_streams |= busy;
        sched_satisfied(domain_of(session), &session->sched.entity);
        quiet.stream_pause.on = true;
    }
}

/* Whether the device still has work of the paused streams. Notes when the first session has none
 * left. */
static bool stream_pause_busy(uint64_t now)
{
    struct session *session;
    bool busy = false;

    for (session = session_table_next(NULL); session; session = session_table_next(session)) {
        if (!session->jobs.paused_streams)
            continue;
        if (busy_streams(session) & session->jobs.paused_streams)
            busy = true;
        else if (!quiet.stream_pause.ended_ns)
            quiet.stream_pause.ended_ns = now;
    }
    return busy;
}

/* Lets the paused streams go on. None is paused again for four times as long as the first of them
 * has waited without work: the time in which its kernels ran was not lost. */
static void stream_pause_end(uint64_t now)
{
    const uint64_t idle_ns = quiet.stream_pause.ended_ns ? now - quiet.stream_pause.ended_ns : 0;
    struct session *session;

    if (!quiet.stream_pause.on)
        return;
    for (session = session_table_next(NULL); session; session = session_table_next(session)) {
        if (!session->jobs.paused_streams)
            continue;
        session->jobs.paused_streams = 0;
        if (session->phase == SESSION_LIVE)
            session_poll_begin(session);
    }
    quiet.stream_pause.next = now + PAUSE_GAP * idle_ns;
    quiet.stream_pause.ended_ns = 0;
    quiet.stream_pause.on = false;
}

/* Pauses all sessions for `ns`. The next pause begins four times as long after this one's end. */
static void pause_begin(uint64_t ns, uint64_t now)
{
    quiet.pause.ns = ns;
    quiet.pause.end = now + ns;
    quiet.pause.next = quiet.pause.end + PAUSE_GAP * ns;
}

/* Cuts a long pause short, and begins a stream pause in its place. */
static void pause_cut(uint64_t now)
{
    if (quiet.pause.ns <= PAUSE_CUT_NS || now >= quiet.pause.end ||
        now < quiet.pause.end - quiet.pause.ns + PAUSE_CUT_NS ||
        (!quiet.stream_pause.on && now < quiet.stream_pause.next))
        return;
    stream_pause_begin(now);
    quiet.pause.end = now;
}

/* Pauses all sessions for a moment once the work of the paused streams has ended. */
static void stream_pause_look(uint64_t now)
{
    if (now >= quiet.pause.end && !stream_pause_busy(now)) {
        pause_begin(2 * PAUSE_CUT_NS, now);
    } else if (now > quiet.stream_pause.begun_ns + STREAM_PAUSE_NS) {
        stream_pause_end(now);
        quiet.pause.next = now + PAUSE_GAP * quiet.pause.ns;
    }
}

/* Begins and ends pauses for a job that waits for a quiet moment. Nobody waits for a job that is
 * not hurried (the deferred release): it causes no pause longer than the first. */
static void pause_for(const struct job *job, uint64_t now)
{
    const bool hurried = !(job->kind->flags & JOB_UNHURRIED);

    pause_cut(now);
    if (quiet.stream_pause.on && hurried) {
        if (quiet.found_paused != now)
            stream_pause_look(now);
        quiet.found_paused = now;
        return;
    }
    if (now < quiet.pause.next ||
        (!(job->kind->flags & JOB_PROMPT) && now < job->waiting_ns + PATIENCE_NS))
        return;
    if (!hurried || !quiet.pause.ns)
        pause_begin(PAUSE_FIRST_NS, now);
    else
        pause_begin(quiet.pause.ns < PAUSE_LONGEST_NS ? 2 * quiet.pause.ns : quiet.pause.ns, now);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Whether a job that must have the device to itself may start: this is a quiet moment. Nothing new
 * goes out then until the job is under way. */
static bool quiet_now(uint64_t now)
{
    if (quiet.found_busy == now || !sessions_idle()) {
        quiet.found_busy = now;
        return false;
    }
    quiet.pause.ns = 0;
    quiet.pause.end = now + PAUSE_FIRST_NS;
    return true;
}

static bool presses(const struct job *job)
{
    return job->kind->flags & JOB_QUIET && !(job->kind->flags & JOB_UNHURRIED);
}

/* Takes a job out of those that wait. */
static void waiting_remove(struct job **link)
{
    const struct job *job = *link;

    *link = job->next;
    if (!*link)
        quiet.end = link;
    quiet.for_moment -= (job->kind->flags & JOB_QUIET) != 0;
    quiet.pressing -= presses(job);
}

/* The job that has the next quiet moment: of the user that was served longest ago the oldest one. A
 * user may have a job in each of hundreds of sessions, and each takes a moment of its own. */
static const struct job *quiet_next(void)
{
    const struct job *next = NULL;
    uint32_t longest = 0;

    for (const struct job *job = quiet.first; job; job = job->next) {
        const uint32_t since =
            job->kind->flags & JOB_QUIET ? served_since(&quiet.served, job_uid(job)) : 0;
        if (job->kind->flags & JOB_QUIET && (!next || since > longest)) {
            next = job;
            longest = since;
        }
    }
    return next;
}

/* Whether running kernels have kept the job from the device for too long. The time of quiet jobs
 * before it does not count: where many modules are loaded, these alone may take longer. */
static bool kept_out(const struct job *job, uint64_t now)
{
    const uint64_t since = job->waiting_ns > quiet.freed_ns ? job->waiting_ns : quiet.freed_ns;

    return !quiet.quiet_job && !(job->kind->flags & JOB_UNHURRIED) && now > since + QUIET_LIMIT_NS;
}

/* Whether the device must first finish what the job's session has issued. */
static bool awaits_session(const struct job *job)
{
    return job->kind->flags & JOB_SESSION_IDLE || job->session_idle;
}

/* Whether sessions that the job may concern are still to be taken up. */
static bool awaits_others(const struct job *job)
{
    return job->kind->flags & JOB_TAKEN_UP &&
           atomic_load_explicit(&quiet.resuming, memory_order_relaxed);
}

/* Whether the job may go to the service threads now, perhaps only to end there as failed. */
static bool may_start(struct job *job, const struct job *next, uint64_t now)
{
    char who[BUSY_TEXT_MAX];

    if (job->kind->flags & JOB_QUIET) {
        if (job->session && job->session->jobs.close) {
            job_fail(job, GS_ERR_INTERRUPTED, "the session is being closed");
            return true;
        }
        if (kept_out(job, now)) {
            job_fail(job, GS_ERR_TIMEOUT, "in %llu s no moment came without running kernels: %s",
                     (unsigned long long)QUIET_LIMIT_NS / 1000000000u, busy_describe(who));
            return true;
        }
        if (quiet.quiet_job)
            return false;
        if (next)
            return job == next;
        pause_for(job, now);
        return false;
    }
    if (awaits_others(job))
        return false;
    if (!awaits_session(job))
        return true;
    /* Asking the driver takes its lock from launches, so completion words are asked first. */
    if ((session_seems_idle(job->session) || now >= quiet.next_confirm) &&
        streams_idle(job->session))
        return true;
    if (job->beside && now > job->waiting_ns + BESIDE_NS)
        window_go_beside(job);
    if (job->at_once && now > job->waiting_ns + SIGNALLED_NS)
        job_fail(job, GS_NOT_READY, "the session has work");
    return job_beside(job) || job->status != GS_OK;
}

static void quiet_begin(struct job *job, uint64_t now)
{
    quiet.quiet_job = job;
    quiet.begun_ns = now;
    served_note(&quiet.served, job_uid(job));
}

void quiet_poll(uint64_t now)
{
    struct job **link = &quiet.first;
    const struct job *next; /* of those for a quiet moment; NULL: there is none now */
    uint32_t asked = 0;     /* about their sessions */

    if (!quiet.first || !look_due(&quiet.look, now))
        return;
    next = quiet.for_moment && !quiet.quiet_job && quiet_now(now) ? quiet_next() : NULL;
    while (*link) {
        struct job *job = *link;
        asked += awaits_session(job);
        if (may_start(job, next, now)) {
            waiting_remove(link);
            if (job->kind->flags & JOB_QUIET && job->status == GS_OK)
                quiet_begin(job, now);
            service_push(job);
        } else {
            link = &job->next;
        }
    }
    if (now >= quiet.next_confirm)
        quiet.next_confirm = now + CONFIRM_NS;
    look_over(&quiet.look, now, asked);
    if (quiet.quiet_job || !quiet_pressing())
        stream_pause_end(now);
}

bool quiet_wanted_by(const struct job *job)
{
    return job->kind->flags & JOB_QUIET || awaits_session(job) || awaits_others(job);
}

void quiet_add(struct job *job, uint64_t now)
{
    if (awaits_session(job))
        job->session->jobs.paused = true;
    job->waiting_ns = now;
    /* Oldest first: where a user loads many modules, none waits for all that come after it. */
    job->next = NULL;
    *quiet.end = job;
    quiet.end = &job->next;
    quiet.for_moment += (job->kind->flags & JOB_QUIET) != 0;
    quiet.pressing += presses(job);
    look_soon(&quiet.look, quiet.first == job);
}

const struct job *quiet_first(void)
{
    return quiet.first;
}

void quiet_resuming(bool resuming)
{
    /* Relaxed: the word stands by itself, and who is to see it is woken. */
    atomic_store_explicit(&quiet.resuming, resuming, memory_order_relaxed);
}

bool quiet_pauses(uint64_t now)
{
    return atomic_load_explicit(&quiet.resuming, memory_order_relaxed) || now < quiet.pause.end ||
           quiet.quiet_job;
}

bool quiet_under_way(uint64_t now, bool *lately)
{
    *lately = now < quiet.begun_ns + LATELY_NS;
    return quiet.quiet_job;
}

bool quiet_any(void)
{
    return quiet.for_moment || quiet.quiet_job;
}

bool quiet_pressing(void)
{
    return quiet.pressing;
}

/* ---- Deferred release ------------------------------------------------------------------------ */

static void deferred_release_work(struct job *job)
{
    (void)job;
    deferred_release_run();
}

static const struct job_kind job_deferred_release = {"deferred_release",
                                                     JOB_PATIENT | JOB_QUIET | JOB_UNHURRIED,
                                                     NULL,
                                                     deferred_release_work,
                                                     NULL,
                                                     NULL};

void quiet_release_poll(uint64_t now)
{
    struct job *job;

    /* The job need not press for a quiet moment until much memory waits. */
    if (quiet.releasing || !deferred_release_any() || !(deferred_release_full() || sessions_idle()))
        return;
    job = job_new(NULL, &job_deferred_release);
    if (job) {
        quiet.releasing = true;
        quiet_add(job, now);
    }
}

bool quiet_returned(struct job *job, uint64_t now)
{
    if (job == quiet.quiet_job) {
        quiet.quiet_job = NULL;
        quiet.freed_ns = now;
        quiet.pause.end = 0;
    }
    if (job->kind != &job_deferred_release)
        return false;
    quiet.releasing = false;
    job_free(job);
    return true;
}

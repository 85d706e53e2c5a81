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
#include "worker/session/polling.h"
#include "worker/submit/stream.h"

#define SIGNALLED_NS    100000u   /* how long a kernel may run on after it has signalled its end */
#define CONFIRM_NS      1000000u  /* how often the driver is asked though the words show work */
#define PATIENCE_NS     10000000u /* how long a job waits for a quiet moment by chance */
#define HOLD_FIRST_NS   3000000u  /* the first hold; each next one is twice as long */
#define HOLD_LONGEST_NS 1000000000u
#define HOLD_CUT_NS     96000000u   /* a stream that is busy for longer is held alone */
#define STREAM_HOLD_NS  6000000000u /* the longest hold of single streams */
#define HOLD_SHARE      4u          /* the time between two holds, in lengths of the last hold */
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
    /* the looks in which the device had work, and in which streams that are held had: the same
     * holds for all other jobs of that look */
    uint64_t found_busy, found_held;
    struct job *quiet_job; /* the job that has the device to itself */
    struct served served;  /* users whose jobs had it */
    uint64_t begun_ns;     /* when that job was given to its thread */
    uint64_t freed_ns;     /* when the last job gave the device back */
    struct {
        uint64_t end;  /* no new work of anybody goes out until then */
        uint64_t next; /* no new hold before */
        uint64_t ns;   /* the length of the last one; 0: it led to a quiet moment */
    } hold;
    struct {
        bool on;           /* session->jobs.held_streams says which streams */
        uint64_t begun_ns; /* valid while `on` */
        uint64_t ended_ns; /* since when the first of them has no work left; 0: all have some */
        uint64_t next;     /* no new one before */
    } stream_hold;
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

/* ---- Holds ----------------------------------------------------------------------------------- */

/*
 * Where no quiet moment comes for a while, new work is held back so that one can come: for 3 ms,
 * then 6, 12 ... up to a second and a half. In between, the others have four fifths of the time.
 *
 * A hold of 192 ms or more is cut after 96 ms. Streams on which the device has had work throughout
 * have long kernels: they alone are held from then on (a stream hold), until that work has ended,
 * and then all are for a moment. So a quiet moment comes beside kernels of a
 * second. A stream hold ends after six seconds in any case, because a kernel may wait for what a
 * stream that is held is to bring. Beside an endless kernel no quiet moment comes, and the job
 * gives up.
 */

/* The streams of a session of the main lane on which the device has work. A session of a side lane
 * counts as idle here: its work is light, and quiet_any calls it back. */
static uint64_t busy_streams(const struct session *session)
{
    return session_elsewhere(session) ? 0 : session_busy_streams(session);
}

/* Holds the streams that the device has work of. Their sessions' other streams go on: a kernel may
 * wait for what one of them is to bring. */
static void stream_hold_begin(uint64_t now)
{
    struct session *session;

    if (!quiet.stream_hold.on)
        quiet.stream_hold.begun_ns = now;
    for (session = session_table_next(NULL); session; session = session_table_next(session)) {
        const uint64_t busy = busy_streams(session);
        if (!busy)
            continue;
        session->jobs.held_streams |= busy;
        sched_satisfied(domain_of(session), &session->sched.entity);
        quiet.stream_hold.on = true;
    }
}

/* Whether the device still has work of the streams that are held. Notes when the first session has
 * none left. */
static bool stream_hold_busy(uint64_t now)
{
    struct session *session;
    bool busy = false;

    for (session = session_table_next(NULL); session; session = session_table_next(session)) {
        if (!session->jobs.held_streams)
            continue;
        if (busy_streams(session) & session->jobs.held_streams)
            busy = true;
        else if (!quiet.stream_hold.ended_ns)
            quiet.stream_hold.ended_ns = now;
    }
    return busy;
}

/* Lets the streams that are held go on. None is held again for four times as long as the first of
 * them has waited without work: the time in which its kernels ran was not lost. */
static void stream_hold_end(uint64_t now)
{
    const uint64_t idle_ns = quiet.stream_hold.ended_ns ? now - quiet.stream_hold.ended_ns : 0;
    struct session *session;

    if (!quiet.stream_hold.on)
        return;
    for (session = session_table_next(NULL); session; session = session_table_next(session)) {
        if (!session->jobs.held_streams)
            continue;
        session->jobs.held_streams = 0;
        if (session->phase == SESSION_LIVE)
            session_poll_begin(session);
    }
    quiet.stream_hold.next = now + HOLD_SHARE * idle_ns;
    quiet.stream_hold.ended_ns = 0;
    quiet.stream_hold.on = false;
}

/* Holds all new work back for `ns`, and then not for four times as long. */
static void hold_begin(uint64_t ns, uint64_t now)
{
    quiet.hold.ns = ns;
    quiet.hold.end = now + ns;
    quiet.hold.next = quiet.hold.end + HOLD_SHARE * ns;
}

/* Cuts a long hold short, and begins a stream hold in its place. */
static void hold_cut(uint64_t now)
{
    if (quiet.hold.ns <= HOLD_CUT_NS || now >= quiet.hold.end ||
        now < quiet.hold.end - quiet.hold.ns + HOLD_CUT_NS ||
        (!quiet.stream_hold.on && now < quiet.stream_hold.next))
        return;
    stream_hold_begin(now);
    quiet.hold.end = now;
}

/* Where the work of all streams that are held has ended, holds all new work for a moment. */
static void stream_hold_look(uint64_t now)
{
    if (now >= quiet.hold.end && !stream_hold_busy(now)) {
        hold_begin(2 * HOLD_CUT_NS, now);
    } else if (now > quiet.stream_hold.begun_ns + STREAM_HOLD_NS) {
        stream_hold_end(now);
        quiet.hold.next = now + HOLD_SHARE * quiet.hold.ns;
    }
}

/* Begins and ends holds for a job that waits for a quiet moment. Nobody waits for a job that is not
 * hurried (the deferred release): it never holds work back for longer than the first time. */
static void hold_for(const struct job *job, uint64_t now)
{
    const bool hurried = !(job->kind->flags & JOB_UNHURRIED);

    hold_cut(now);
    if (quiet.stream_hold.on && hurried) {
        if (quiet.found_held != now)
            stream_hold_look(now);
        quiet.found_held = now;
        return;
    }
    if (now < quiet.hold.next ||
        (!(job->kind->flags & JOB_PROMPT) && now < job->waiting_ns + PATIENCE_NS))
        return;
    if (!hurried || !quiet.hold.ns)
        hold_begin(HOLD_FIRST_NS, now);
    else
        hold_begin(quiet.hold.ns < HOLD_LONGEST_NS ? 2 * quiet.hold.ns : quiet.hold.ns, now);
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
    quiet.hold.ns = 0;
    quiet.hold.end = now + HOLD_FIRST_NS;
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
        hold_for(job, now);
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
        stream_hold_end(now);
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

bool quiet_hold(uint64_t now)
{
    return atomic_load_explicit(&quiet.resuming, memory_order_relaxed) || now < quiet.hold.end ||
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
        quiet.hold.end = 0;
    }
    if (job->kind != &job_deferred_release)
        return false;
    quiet.releasing = false;
    job_free(job);
    return true;
}

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

#include "worker/memory/deferred_release.h"
#include "worker/memory/window.h"
#include "worker/sched/domain.h"
#include "worker/sched/session_table.h"
#include "worker/session/busy.h"
#include "worker/session/polling.h"
#include "worker/submit/stream.h"

#define POLL_NS         20000u    /* how often waiting jobs are looked at */
#define SIGNALLED_NS    100000u   /* how long a kernel may run on after it has signalled its end */
#define CONFIRM_NS      1000000u  /* how often the driver is asked though the words show work */
#define PATIENCE_NS     10000000u /* how long a job waits for a quiet moment by chance */
#define HOLD_FIRST_NS   3000000u  /* how long new work is held back at first; doubles each time */
#define HOLD_LONGEST_NS 1000000000u
#define HOLD_SHORT_NS   96000000u   /* a stream that is busy for longer outlasts the hold */
#define OUTLASTS_NS     6000000000u /* how long streams that outlast holds are held back */
#define HOLD_SHARE      4u          /* the time between two holds, in lengths of the last hold */
#define BESIDE_NS       20000000u /* most kernels end in that time; the session's new work waits */
#define LATELY_NS       2000000u  /* a set of SMs is made in 1.1 to 1.4 ms */
#define QUIET_LIMIT_NS  10000000000u /* after this a job that somebody waits for gives up */

static struct {
    struct job *first;
    uint64_t next_poll, next_confirm;
    struct job *quiet_job;        /* the job that has the device to itself */
    uint64_t begun_ns;            /* when that job was given to its thread */
    uint64_t freed_ns;            /* when the last job gave the device back */
    uint64_t hold_end, next_hold; /* no new work until hold_end; no new hold until next_hold */
    /* the length of the last hold, of all new work; 0: it led to a quiet moment */
    uint64_t hold_ns;
    /* Some streams have had work on the device throughout a hold (they outlast it), and are held
     * back while others go on. After that no stream is held back so before next_outlasts. */
    bool outlasting;
    uint64_t outlasting_ns; /* since when */
    uint64_t next_outlasts;
    /* since when the first of these streams has no work on the device; 0: all have work */
    uint64_t ended_ns;
    _Atomic bool resuming; /* sessions are being taken up */
    bool releasing;        /* a job runs the deferred release */
} quiet;

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

/* ---- Kernels that outlast holds -------------------------------------------------------------- */

/* The streams of a session of the main lane on which the device has work. A session of a side lane
 * counts as idle here: its work is light, and quiet_any calls it back. */
static uint64_t busy_streams(const struct session *session)
{
    return session_elsewhere(session) ? 0 : session_busy_streams(session);
}

/* Holds back those streams of which the device still has work so long after a hold began. Their
 * sessions' other streams go on: a kernel may wait for what one of them is to bring. */
static void outlasting_hold(uint64_t now)
{
    struct session *session;

    if (!quiet.outlasting)
        quiet.outlasting_ns = now;
    for (session = session_table_next(NULL); session; session = session_table_next(session)) {
        const uint64_t busy = busy_streams(session);
        if (!busy)
            continue;
        session->jobs.outlasts |= busy;
        sched_satisfied(domain_of(session), &session->sched.entity);
        quiet.outlasting = true;
    }
}

/* Whether the device has work of the streams that outlast holds. Notes when the first session has
 * none left. */
static bool outlasting_busy(uint64_t now)
{
    struct session *session;
    bool busy = false;

    for (session = session_table_next(NULL); session; session = session_table_next(session)) {
        if (!session->jobs.outlasts)
            continue;
        if (busy_streams(session) & session->jobs.outlasts)
            busy = true;
        else if (!quiet.ended_ns)
            quiet.ended_ns = now;
    }
    return busy;
}

/* Lets the streams that outlast holds go on. None is held back so again for four times as long as
 * the first of them has waited without work: the time in which its kernels ran was not lost. */
static void outlasting_release(uint64_t now)
{
    struct session *session;

    if (!quiet.outlasting)
        return;
    for (session = session_table_next(NULL); session; session = session_table_next(session)) {
        if (!session->jobs.outlasts)
            continue;
        session->jobs.outlasts = 0;
        if (session->phase == SESSION_LIVE)
            session_poll_begin(session);
    }
    quiet.next_outlasts = quiet.ended_ns ? now + HOLD_SHARE * (now - quiet.ended_ns) : now;
    quiet.ended_ns = 0;
    quiet.outlasting = false;
}

/* Lets the streams that outlast holds go on although no quiet moment came: a kernel may wait for
 * what a stream that is held back is to bring. The next hold comes after the usual pause. */
static void outlasting_tire(uint64_t now)
{
    outlasting_release(now);
    quiet.next_hold = now + HOLD_SHARE * quiet.hold_ns;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Holds all new work back for `ns`, and then not for four times as long. */
static void hold_begin(uint64_t ns, uint64_t now)
{
    quiet.hold_ns = ns;
    quiet.hold_end = now + ns;
    quiet.next_hold = quiet.hold_end + HOLD_SHARE * ns;
}

/* Ends a long hold after HOLD_SHORT_NS: streams that still have work on the device outlast it, and
 * are held back alone until that work has ended. */
static void hold_look(uint64_t now)
{
    if (quiet.hold_ns <= HOLD_SHORT_NS || now >= quiet.hold_end ||
        now < quiet.hold_end - quiet.hold_ns + HOLD_SHORT_NS ||
        (!quiet.outlasting && now < quiet.next_outlasts))
        return;
    outlasting_hold(now);
    quiet.hold_end = now;
}

/* Whether a job that must have the device to itself may start: it waits for a quiet moment. When
 * none has come for a while, new work is held back so that one can come: for 3 ms, then 6, 12 ...
 * up to a second and a half; in between, the others have four fifths of the time. Where a hold of
 * 192 ms meets kernels that go on after half of it, their streams alone are held back until they
 * have ended, but for six seconds at a time, and then all for a moment: so it comes beside kernels
 * of a second. Beside an endless kernel no quiet moment comes, and the job gives up. The job of the
 * deferred release, for which nobody waits, never holds work back for longer than the first time.
 */
static bool quiet_for(const struct job *job, uint64_t now)
{
    if (sessions_idle()) {
        quiet.hold_ns = 0;
        quiet.hold_end = now + HOLD_FIRST_NS; /* nothing new goes out until the job is under way */
        return true;
    }
    hold_look(now);
    if (quiet.outlasting && !(job->kind->flags & JOB_UNHURRIED)) {
        if (now >= quiet.hold_end && !outlasting_busy(now))
            hold_begin(2 * HOLD_SHORT_NS, now);
        else if (now > quiet.outlasting_ns + OUTLASTS_NS)
            outlasting_tire(now);
        return false;
    }
    if (now < quiet.next_hold ||
        (!(job->kind->flags & JOB_PROMPT) && now < job->waiting_ns + PATIENCE_NS))
        return false;
    if (job->kind->flags & JOB_UNHURRIED || !quiet.hold_ns)
        hold_begin(HOLD_FIRST_NS, now);
    else
        hold_begin(quiet.hold_ns < HOLD_LONGEST_NS ? 2 * quiet.hold_ns : quiet.hold_ns, now);
    return false;
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
static bool may_start(struct job *job, uint64_t now)
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
        return !quiet.quiet_job && quiet_for(job, now);
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
}

void quiet_poll(uint64_t now)
{
    struct job **link = &quiet.first;

    if (!quiet.first || now < quiet.next_poll)
        return;
    quiet.next_poll = now + POLL_NS;
    while (*link) {
        struct job *job = *link;
        if (may_start(job, now)) {
            *link = job->next;
            if (job->kind->flags & JOB_QUIET && job->status == GS_OK)
                quiet_begin(job, now);
            service_push(job);
        } else {
            link = &job->next;
        }
    }
    if (now >= quiet.next_confirm)
        quiet.next_confirm = now + CONFIRM_NS;
    if (quiet.quiet_job || !quiet_pressing())
        outlasting_release(now);
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
    /* Oldest first: where many modules are loaded, none waits for all that come after it. */
    struct job **end = &quiet.first;
    while (*end)
        end = &(*end)->next;
    job->next = NULL;
    *end = job;
    quiet.next_poll = 0; /* looks at once, because mostly the work is done already */
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
    return atomic_load_explicit(&quiet.resuming, memory_order_relaxed) || now < quiet.hold_end ||
           quiet.quiet_job;
}

bool quiet_under_way(uint64_t now, bool *lately)
{
    *lately = now < quiet.begun_ns + LATELY_NS;
    return quiet.quiet_job;
}

bool quiet_any(void)
{
    for (const struct job *job = quiet.first; job; job = job->next) {
        if (job->kind->flags & JOB_QUIET)
            return true;
    }
    return quiet.quiet_job;
}

bool quiet_pressing(void)
{
    for (const struct job *job = quiet.first; job; job = job->next) {
        if (job->kind->flags & JOB_QUIET && !(job->kind->flags & JOB_UNHURRIED))
            return true;
    }
    return false;
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
        quiet.hold_end = 0;
    }
    if (job->kind != &job_deferred_release)
        return false;
    quiet.releasing = false;
    job_free(job);
    return true;
}

/*
 * parked.c - jobs that must wait for the device: until their session's work is finished
 * (JOB_QUIESCE), or until the device has nothing to do at all (JOB_QUIET).
 *
 * Runs on the dispatcher, which never waits itself: it looks at these jobs now and then. Completion
 * words are asked first, since asking the driver takes its lock from launches; a tenant can falsify
 * its own, so the driver has the last word.
 */
#include "worker/parked.h"

#include "worker/busy.h"
#include "worker/graveyard.h"
#include "worker/lane.h"
#include "worker/session_table.h"
#include "worker/stream.h"

#define POLL_NS     20000u    /* how often they are looked at */
#define CONFIRM_NS  1000000u  /* how often the driver is asked though the words say no */
#define PATIENCE_NS 10000000u /* a job waits so long for a quiet moment by chance */
#define HOLD_FIRST_NS                                                                              \
    3000000u /* new work is held back so long to make one; each further time twice */
#define HOLD_LONGEST_NS 1000000000u
#define HOLD_SHARE      4u /* between two holds the others have this many times the last one */
#define QUIET_LIMIT_NS  10000000000u /* a job that somebody waits for gives up */

static struct {
    struct job *first;
    uint64_t next_poll, next_confirm;
    struct job *quiet_job;        /* has the device to itself */
    uint64_t hold_end, next_hold; /* no new work until then; no new hold until then */
    uint64_t hold_ns;             /* length of the last hold; 0: the last one made a quiet moment */
    bool burying;                 /* a job clears the graveyard */
} parked;

/* Has the device finished all that the sessions have issued? The words are asked first, which cost
 * nothing, then the driver: a tenant could have falsified its words. */
static bool sessions_idle(void)
{
    struct session *session;

    for (session = session_after(NULL); session; session = session_after(session)) {
        if (session->lane->index || !session_seems_idle(session))
            return false;
    }
    for (session = session_after(NULL); session; session = session_after(session)) {
        if (!streams_idle(session))
            return false;
    }
    return true;
}

/* A job that must have the device to itself waits for a quiet moment. When none has come for a
 * while, new work is held back so that one can come: for 3 ms, then 6, 12 ... up to a second, so
 * that it comes beside a tenant with any amount of finite work queued; in between the others have
 * four fifths of the time. Beside an endless kernel it does not come: the job gives up. The
 * graveyard's job, which nobody waits for, never holds for more than the first time. */
static bool quiet_for(const struct job *job, uint64_t now)
{
    if (sessions_idle()) {
        parked.hold_ns = 0;
        parked.hold_end = now + HOLD_FIRST_NS; /* nothing new until the job is under way */
        return true;
    }
    if (now < parked.next_hold ||
        (!(job->kind->flags & JOB_PROMPT) && now < job->parked_ns + PATIENCE_NS))
        return false;
    if (job->kind->flags & JOB_UNHURRIED || !parked.hold_ns)
        parked.hold_ns = HOLD_FIRST_NS;
    else if (parked.hold_ns < HOLD_LONGEST_NS)
        parked.hold_ns *= 2;
    parked.hold_end = now + parked.hold_ns;
    parked.next_hold = parked.hold_end + HOLD_SHARE * parked.hold_ns;
    return false;
}

static bool may_start(struct job *job, uint64_t now)
{
    char who[BUSY_TEXT_MAX];

    if (job->kind->flags & JOB_QUIET) {
        if (job->session && job->session->close) {
            job_fail(job, GS_ERR_INTERRUPTED, "the session is being closed");
            return true;
        }
        if (!(job->kind->flags & JOB_UNHURRIED) && now > job->parked_ns + QUIET_LIMIT_NS) {
            job_fail(job, GS_ERR_TIMEOUT, "in %llu s no moment came without running kernels: %s",
                     (unsigned long long)QUIET_LIMIT_NS / 1000000000u, busy_describe(who));
            return true;
        }
        return !parked.quiet_job && quiet_for(job, now);
    }
    /* Asking the driver takes its lock from launches, so the words are asked first. */
    if (!session_seems_idle(job->session) && now < parked.next_confirm)
        return false;
    return streams_idle(job->session);
}

void parked_poll(uint64_t now)
{
    struct job **link = &parked.first;

    if (!parked.first || now < parked.next_poll)
        return;
    parked.next_poll = now + POLL_NS;
    while (*link) {
        struct job *job = *link;
        if (may_start(job, now)) {
            *link = job->next;
            if (job->kind->flags & JOB_QUIET && job->status == GS_OK)
                parked.quiet_job = job;
            service_push(job);
        } else {
            link = &job->next;
        }
    }
    if (now >= parked.next_confirm)
        parked.next_confirm = now + CONFIRM_NS;
}

void parked_add(struct job *job, uint64_t now)
{
    if (job->kind->flags & JOB_QUIESCE)
        job->session->paused = true;
    job->parked_ns = now;
    job->next = parked.first;
    parked.first = job;
    parked.next_poll = 0; /* look at once: mostly the work is done already */
}

const struct job *parked_first(void)
{
    return parked.first;
}

bool parked_hold(uint64_t now)
{
    return now < parked.hold_end || parked.quiet_job;
}

bool parked_under_way(void)
{
    return parked.quiet_job;
}

bool parked_wants_quiet(void)
{
    for (const struct job *job = parked.first; job; job = job->next) {
        if (job->kind->flags & JOB_QUIET)
            return true;
    }
    return parked.quiet_job;
}

bool parked_pressing(void)
{
    for (const struct job *job = parked.first; job; job = job->next) {
        if (job->kind->flags & JOB_QUIET && !(job->kind->flags & JOB_UNHURRIED))
            return true;
    }
    return false;
}

/* ---- The graveyard --------------------------------------------------------------------------- */

static void bury_work(struct job *job)
{
    (void)job;
    graves_clear();
}

static const struct job_kind job_bury = {
    "bury", JOB_PATIENT | JOB_QUIET | JOB_UNHURRIED, NULL, bury_work, NULL, NULL};

void graves_look(uint64_t now)
{
    struct job *job;

    /* It need not press for a quiet moment until there is much. */
    if (parked.burying || !graves_any() || !(graves_full() || sessions_idle()))
        return;
    job = job_new(NULL, &job_bury);
    if (job) {
        parked.burying = true;
        parked_add(job, now);
    }
}

bool parked_returned(struct job *job)
{
    if (job == parked.quiet_job) {
        parked.quiet_job = NULL;
        parked.hold_end = 0;
    }
    if (job->kind != &job_bury)
        return false;
    parked.burying = false;
    job_free(job);
    return true;
}

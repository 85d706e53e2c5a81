/*
 * chore.c - chores: jobs that a session's tenant did not ask for. A chore waits until none of the
 * tenant's requests is in progress and, with JOB_HOLD, until the device has finished what the
 * session has issued.
 *
 * Runs on the main lane. A kernel may be waiting for what another stream of its session is to
 * bring, or its program for an answer, so a chore must not stop the session until the session is
 * idle. Hence the tenant's own requests go first, and new work is held back only for 3 ms, then 6,
 * 12 ... up to a second, so that a busy session falls idle, with four times as long in between. A
 * chore that another tenant waits for (JOB_HOLD_ON) holds on once it has waited for as long as the
 * session's kernels may run, and no request is taken after the one in progress: then the session
 * falls idle, or is ended for a kernel that does not end (evict.c). Such a chore is also done
 * beside a job that compiles, which may take minutes: of what the chore changes that job changes
 * the sinks alone, under a lock (memory/window.h).
 */
#include "worker/session/chore.h"

#include "common/util.h"
#include "worker/session/look.h"
#include "worker/session/polling.h"
#include "worker/submit/stream.h"

/* how often the driver is asked though the completion words say that work runs */
#define CONFIRM_NS      1000000u
#define HOLD_FIRST_NS   3000000u
#define HOLD_LONGEST_NS 1000000000u
#define HOLD_SHARE      4u

static struct {
    struct job *first;
    struct look look;
    uint64_t next_confirm;
} chores;

void chore_add(struct job *job)
{
    const bool one_does = job->kind->flags & JOB_HOLD && job->session->jobs.chores;

    for (const struct job *other = chores.first; one_does && other; other = other->next) {
        if (other->session == job->session && other->kind == job->kind) {
            job_free(job);
            return;
        }
    }
    job->hold.since_ns = clock_ns();
    job->next = chores.first;
    chores.first = job;
    job->session->jobs.chores++;
    look_soon(&chores.look, !job->next);
}

bool chores_any(void)
{
    return chores.first;
}

/* Without a look at all chores: who has none is asked about after each of its requests. */
bool chores_hold(const struct session *session)
{
    return session->resume || session->jobs.holding;
}

/* Takes a chore out of those that wait. */
static struct job *chore_remove(struct job **link)
{
    struct job *job = *link;

    *link = job->next;
    job->session->jobs.chores--;
    job->session->jobs.holding -= job->hold.on;
    return job;
}

void chores_cancel(const struct session *session)
{
    for (struct job **link = &chores.first; *link && session->jobs.chores;) {
        if ((*link)->session == session)
            job_free(chore_remove(link));
        else
            link = &(*link)->next;
    }
}

/* Whether the session is idle. A tenant can falsify its completion words, so the driver's answer
 * decides. */
static bool session_idle(struct session *session, uint64_t now)
{
    return (session_seems_idle(session) || now >= chores.next_confirm) && streams_idle(session);
}

static bool holds_on(const struct job *job, uint64_t now)
{
    const uint64_t limit = job->session->grant.link.kernel_limit * UINT64_C(1000000);

    return (job->kind->flags & JOB_HOLD_ON) && limit && now - job->hold.since_ns >= limit;
}

/* Whether the chore need not wait for the job in progress. */
static bool may_begin(const struct job *job)
{
    const struct session_jobs *jobs = &job->session->jobs;

    return !jobs->current || (job->kind->flags & JOB_HOLD_ON && !jobs->aside &&
                              jobs->current->kind->flags & JOB_COMPILES);
}

/* Begins or ends holding the session's work back, when that is due. */
static void hold_turn(struct job *job, uint64_t now)
{
    struct session *session = job->session;

    if (now < job->hold.change_ns || (job->hold.on && holds_on(job, now)))
        return;
    job->hold.on = !job->hold.on;
    session->jobs.holding += job->hold.on ? 1 : -1;
    session->jobs.paused = chores_hold(session); /* another one may hold on */
    if (job->hold.on) {
        job->hold.ns = job->hold.ns ? 2 * job->hold.ns : HOLD_FIRST_NS;
        if (job->hold.ns > HOLD_LONGEST_NS)
            job->hold.ns = HOLD_LONGEST_NS;
        job->hold.change_ns = now + job->hold.ns;
    } else {
        job->hold.change_ns = now + HOLD_SHARE * job->hold.ns;
        session_poll_begin(session);
    }
}

struct job *chore_due(uint64_t now)
{
    uint32_t waiting = 0;

    if (!chores.first || !look_due(&chores.look, now))
        return NULL;
    for (struct job **link = &chores.first; *link;) {
        struct job *job = *link;
        struct session *session = job->session;
        bool holds = job->kind->flags & JOB_HOLD, begins = may_begin(job);

        if (begins && (!holds || session_idle(session, now))) {
            chore_remove(link);
            *(session->jobs.current ? &session->jobs.aside : &session->jobs.current) = job;
            session->jobs.paused = holds || chores_hold(session); /* until the job returns */
            return job;
        }
        if (begins || holds_on(job, now))
            hold_turn(job, now);
        waiting++;
        link = &job->next;
    }
    if (now >= chores.next_confirm)
        chores.next_confirm = now + CONFIRM_NS;
    look_over(&chores.look, now, waiting);
    return NULL;
}

/*
 * chore.c - chores: jobs that a session's tenant did not ask for. A chore waits until none of the
 * tenant's requests is in progress and, with JOB_PAUSE, until the device has finished all work of
 * the session.
 *
 * Runs on the main lane. A kernel may be waiting for data that another stream of its session
 * brings, or the tenant's program for an answer, so a chore must not simply stop the session until
 * it is idle. Hence a busy session is paused (pause.h) for 3 ms, then for 6, 12 ms ... up to a
 * second, with four times as long in between, until it falls idle. While it is paused, no request
 * of the tenant is taken; in between, the tenant's requests go first.
 *
 * Another tenant waits for a chore with JOB_PAUSE_UNTIL_DONE. Once such a chore has waited for as
 * long as the session's kernels may run, the session stays paused, and no request is taken after
 * the one in progress: then the session falls idle, or is ended for a kernel that does not end
 * (evict.c). Such a chore may also be done beside a job that compiles, which may take minutes. Of
 * all that the chore changes, that job changes only the sinks, under a lock (memory/window.h).
 */
#include "worker/session/chore.h"

#include "common/util.h"
#include "worker/session/look.h"
#include "worker/session/pause.h"
#include "worker/session/polling.h"
#include "worker/submit/stream.h"

/* how often the driver is asked although the completion words say that work runs */
#define CONFIRM_NS 1000000u

static struct {
    struct job *first;
    struct look look;
    uint64_t next_confirm;
} chores;

void chore_add(struct job *job)
{
    const bool one_does = job->kind->flags & JOB_PAUSE && job->session->jobs.chores;

    for (const struct job *other = chores.first; one_does && other; other = other->next) {
        if (other->session == job->session && other->kind == job->kind) {
            job_free(job);
            return;
        }
    }
    job->pause.since_ns = clock_ns();
    job->next = chores.first;
    chores.first = job;
    job->session->jobs.chores++;
    look_soon(&chores.look, !job->next);
}

bool chores_any(void)
{
    return chores.first;
}

/* Reads a count, because this is called after each request, also of sessions without a chore. */
bool chores_pause(const struct session *session)
{
    return session->resume || session->jobs.pausing;
}

/* Removes a chore from those that wait, and returns it. */
static struct job *chore_remove(struct job **link)
{
    struct job *job = *link;

    *link = job->next;
    job->session->jobs.chores--;
    job->session->jobs.pausing -= job->pause.on;
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

/* Returns whether the session is idle. The driver's answer decides, since a tenant can falsify its
 * completion words. */
static bool session_idle(struct session *session, uint64_t now)
{
    return (session_seems_idle(session) || now >= chores.next_confirm) && streams_idle(session);
}

/* Returns whether the session's pause for this chore, once begun, lasts until the chore is done. */
static bool pauses_until_done(const struct job *job, uint64_t now)
{
    const uint64_t limit = job->session->grant.link.kernel_limit * UINT64_C(1000000);

    return (job->kind->flags & JOB_PAUSE_UNTIL_DONE) && limit && now - job->pause.since_ns >= limit;
}

/* Returns whether the chore may be done now: no job is in progress, or it may be done beside that
 * job. */
static bool may_begin(const struct job *job)
{
    const struct session_jobs *jobs = &job->session->jobs;

    return !jobs->current || (job->kind->flags & JOB_PAUSE_UNTIL_DONE && !jobs->aside &&
                              jobs->current->kind->flags & JOB_COMPILES);
}

/* Begins or ends the session's pause for this chore, if that is due. */
static void pause_turn(struct job *job, uint64_t now)
{
    struct session *session = job->session;

    if (now < job->pause.change_ns || (job->pause.on && pauses_until_done(job, now)))
        return;
    job->pause.on = !job->pause.on;
    session->jobs.pausing += job->pause.on ? 1 : -1;
    session->jobs.paused = chores_pause(session); /* another chore may pause the session too */
    if (job->pause.on) {
        job->pause.ns = job->pause.ns ? 2 * job->pause.ns : PAUSE_FIRST_NS;
        if (job->pause.ns > PAUSE_LONGEST_NS)
            job->pause.ns = PAUSE_LONGEST_NS;
        job->pause.change_ns = now + job->pause.ns;
    } else {
        job->pause.change_ns = now + PAUSE_GAP * job->pause.ns;
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
        bool pauses = job->kind->flags & JOB_PAUSE, begins = may_begin(job);

        if (begins && (!pauses || session_idle(session, now))) {
            chore_remove(link);
            *(session->jobs.current ? &session->jobs.aside : &session->jobs.current) = job;
            /* stays paused until the job returns */
            session->jobs.paused = pauses || chores_pause(session);
            return job;
        }
        if (begins || pauses_until_done(job, now))
            pause_turn(job, now);
        waiting++;
        link = &job->next;
    }
    if (now >= chores.next_confirm)
        chores.next_confirm = now + CONFIRM_NS;
    look_over(&chores.look, now, waiting);
    return NULL;
}

/*
 * route.c - sends jobs on their way: from the main lane to the service threads, perhaps after
 * waiting for the device, and on to their next step once they are back.
 *
 * Runs on the main lane.
 */
#include "worker/loop/route.h"

#include <stdlib.h>

#include "common/util.h"
#include "worker/loop/lanes.h"
#include "worker/loop/request.h"
#include "worker/sched/domain.h"
#include "worker/sched/inflight.h"
#include "worker/sched/lane.h"
#include "worker/sched/session_table.h"
#include "worker/session/chore.h"
#include "worker/session/evict.h"
#include "worker/session/grant.h"
#include "worker/session/polling.h"
#include "worker/session/quiet.h"
#include "worker/session/resume.h"
#include "worker/session/retire.h"
#include "worker/session/session.h"
#include "worker/session/trial.h"
#include "worker/session/turn.h"
#include "worker/submit/placement.h"
#include "worker/submit/session_fault.h"
#include "worker/submit/stream.h"

void job_route(struct job *job)
{
    if (!quiet_wanted_by(job)) {
        service_push(job);
        return;
    }
    quiet_add(job, clock_ns());
    if (job->session)
        job->session->lane->quiet_wanted = quiet_pressing();
}

/* Jobs for sessions that another lane has. They begin when the session is back. */
static struct job *for_returned;

/* Where another lane has the session, recalls the session, lets the job wait for it, and returns
 * true. */
static bool session_awaited(struct session *session, struct job *job)
{
    if (!session || !session_elsewhere(session))
        return false;
    lanes_recall_session(session);
    job->next = for_returned;
    for_returned = job;
    return true;
}

struct job *jobs_for_returned(void)
{
    struct job *first = NULL;

    /* Oldest first, as they came. */
    while (for_returned) {
        struct job *job = for_returned;
        for_returned = job->next;
        job->next = first;
        first = job;
    }
    return first;
}

static void chore_take(struct job *job)
{
    struct session *session = session_table_at(job->index);

    if (!session || session->id != job->arg[0]) {
        job_free(job);
        return;
    }
    if (session_awaited(session, job))
        return;
    job->session = session;
    chore_add(job);
}

static void close_begin(struct session *session, struct job *job)
{
    chores_cancel(session);
    session->jobs.current = job;
    job_begin(job);
}

static void hole_fault(struct session *session, const struct job *job)
{
    session_fault(
        session,
        &(struct fault){.kind = GS_FAULT_LAUNCH,
                        .status = GS_ERR_DRIVER,
                        .message = job->message[0] ? job->message : "a sink could not be mapped"});
}

/* Ends a chore that was done beside another job, which goes on if it is back. */
static void aside_end(struct job *job)
{
    struct session *session = job->session;
    struct job *back = session->jobs.back;

    if (job->status != GS_OK)
        hole_fault(session, job);
    session->jobs.aside = session->jobs.back = NULL;
    session->jobs.paused = chores_pause(session);
    job_free(job);
    if (back)
        job_returned(session->lane, back);
    else if (session->phase == SESSION_LIVE)
        session_poll_begin(session);
}

/* Ends a job: a tenant's request is answered, or a chore is done. */
static void request_end(struct job *job)
{
    struct session *session = job->session;

    if (!(job->kind->flags & JOB_CHORE))
        request_answer(job);
    if (session->memory.hole)
        hole_fault(session, job);
    session->jobs.current = NULL;
    session->jobs.paused = chores_pause(session); /* a job that failed in prepare has set it too */
    partition_release(job->partition);
    job_free(job);
    if (session->jobs.close)
        close_begin(session, session->jobs.close);
    else if (session->phase == SESSION_LIVE)
        session_poll_begin(session); /* records may have had to wait for the job */
}

void job_begin(struct job *job)
{
    if (job->kind->prepare)
        job->kind->prepare(job);
    if (job->status != GS_OK || !job->kind->work)
        request_end(job);
    else
        job_route(job);
}

static void session_enter(struct lane *lane, struct job *job)
{
    struct session *session = job->session;

    session->lane = lane;
    session_table_add(session);
    session_poll_begin(session);
    grant_apply(job);
    turn_add(session, lane->now, job->open.suspect_ns);
}

static void open_end(struct lane *lane, struct job *job)
{
    struct session *session = job->session;

    if (job->status == GS_OK)
        session_enter(lane, job);
    session_opened(job);
    if (job->status != GS_OK) {
        partition_release(job->partition);
        session_free(session);
    }
    job_free(job);
}

/* Enters a session that is taken up late with its job in progress, and tells the supervisor, so
 * that the others go on. */
static void late_begin(struct lane *lane, struct job *job)
{
    session_enter(lane, job);
    session_opened(job);
    job->session->jobs.current = job;
    job->session->jobs.paused = true;
}

static void late_end(struct job *job)
{
    struct session *session = job->session;

    if (job->status == GS_OK && !session->jobs.close && !session->submit.faulted)
        session_taken_up(session);
    else if (!session->jobs.close)
        session_fault(session, &(struct fault){.kind = GS_FAULT_DEVICE,
                                               .status = GS_ERR_INTERRUPTED,
                                               .message = job->message});
    request_end(job);
}

/* A job of a session that is taken up is back. */
static void resume_returned(struct lane *lane, struct job *job)
{
    struct session *session = job->session;

    session->lane = lane;
    if (resume_late(job))
        late_begin(lane, job);
    if (resume_next(job)) {
        job_route(job);
        return;
    }
    const bool suspect = job->status == GS_OK && job->open.replay == LINK_REPLAY_ALONE;

    resume_end(job);
    if (session->jobs.current == job) {
        late_end(job); /* its work runs again beside that of others, who are not to wait any more */
        return;
    }
    open_end(lane, job);
    if (suspect && session_caught_up(session))
        trial_passed(session);
    else if (suspect)
        trial_add(session);
}

/* Begins to close a session, as the control thread asks. */
static void close_request(struct job *job)
{
    struct session *session = session_table_at(job->index);

    if (!session) {
        job_free(job);
        return;
    }
    if (session_awaited(session, job))
        return;
    job->session = session;
    session_poll_stop(session);
    trial_remove(session);
    turn_remove(session);
    session_table_closing(session);
    session->round.pending = 0;
    headroom_remove(&session->lane->headroom, &session->sched.headroom);
    grant_cancel(session);
    service_closing(session);
    sched_satisfied(domain_of(session), &session->sched.entity);
    if (session->jobs.current)
        session->jobs.close = job;
    else
        close_begin(session, job);
}

/* A grant for a session that is being closed is not answered, because nobody waits for it. */
static void grant_request(struct job *job)
{
    struct session *session = session_table_at(job->index);

    if (session_awaited(session, job))
        return;
    job->session = session;
    if (session)
        grant_take(job);
    else
        job_free(job);
}

/* The job of a partition is back. A job that found no device memory is tried once more without the
 * partitions that nobody holds. */
static void partition_end(struct lane *lane, struct job *job)
{
    if (job->status == GS_ERR_NO_DEVICE_MEMORY && placement_free_idle()) {
        partition_retry(job);
        return;
    }
    partition_settle(job);
    grants_poll(lane->now);
}

/* Takes what another thread has queued for the main lane: the control thread what the supervisor
 * asks for, a job of one session a chore of another's. Returns false for a job that is back from
 * the service threads. */
static bool order_take(struct job *job)
{
    if (job->kind == &job_open_partition) {
        grant_take(job);
    } else if (job->kind == &job_grant) {
        grant_request(job);
    } else if (job->kind == &job_close && !job->session) {
        close_request(job);
    } else if (job->kind == &job_evict) {
        evict_request(job);
        job_free(job);
    } else if (job->kind->flags & JOB_CHORE && !job->session) {
        chore_take(job);
    } else {
        return false;
    }
    return true;
}

/* The work of a request, a chore or a close is done. */
static void work_end(struct job *job)
{
    if (job->status == GS_OK && job->kind->install)
        job->kind->install(job);
    if (job->status == GS_OK && job->kind->then) {
        job->kind = job->kind->then;
        job_route(job);
        return;
    }
    request_end(job);
}

/* The modules of a closed session are unloaded. */
static void close_end(struct job *job)
{
    grant_deinit(job->session);
    inflight_remove(job->session);
    session_free(job->session);
    job_free(job);
}

/* Takes a chore that was done beside another job of its session, or that job, which waits for the
 * chore. Returns false for others. */
static bool aside_take(struct job *job)
{
    struct session *session = job->session;

    if (!session || !session->jobs.aside)
        return false;
    if (job == session->jobs.aside)
        aside_end(job);
    else if (job == session->jobs.current)
        session->jobs.back = job;
    else
        return false;
    return true;
}

void job_returned(struct lane *lane, struct job *job)
{
    if (quiet_returned(job, lane->now) || order_take(job) || aside_take(job))
        return;
    if (partition_is_job(job))
        partition_end(lane, job);
    else if (job->kind == &job_open)
        open_end(lane, job);
    else if (resume_is_job(job))
        resume_returned(lane, job);
    else if (job->kind == &job_retire)
        retire_step(job);
    else if (job->kind == &job_unload_all)
        close_end(job);
    else
        work_end(job);
}

/*
 * route.c - moves jobs from step to step: from the main lane to the service threads, if necessary
 * after a wait for the device (quiet.c), and after each return to the next step or to the end.
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

/* Jobs for sessions that side lanes have, newest first. They begin once the session is back. */
static struct job *for_returned;

/* Recalls the session and queues the job until it is back, if a side lane has it. Returns whether
 * that is so. */
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

    /* Reverses the list, so that the oldest job comes first. */
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

/* Ends a chore that was done beside another job. Continues that job, if it has returned
 * meanwhile. */
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

/* Ends a job: answers the tenant's request, or finishes a chore. */
static void request_end(struct job *job)
{
    struct session *session = job->session;

    if (!(job->kind->flags & JOB_CHORE))
        request_answer(job);
    if (session->memory.hole)
        hole_fault(session, job);
    session->jobs.current = NULL;
    /* set even for a chore that has failed in prepare */
    session->jobs.paused = chores_pause(session);
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

/* Enters a session that is resumed late into the table, while its job goes on, and tells the
 * supervisor, so that the other sessions need not wait for it. */
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

/* Takes the next step of a job that resumes a session. */
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
        /* others no longer wait for this session, so its replayed work runs beside theirs, without
         * a trial */
        late_end(job);
        return;
    }
    open_end(lane, job);
    if (suspect && session_caught_up(session))
        trial_passed(session);
    else if (suspect)
        trial_add(session);
}

/* Begins to close a session, on the supervisor's LINK_CLOSE. */
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

/* Applies or queues a grant for a session. A grant for a session that is being closed is dropped
 * unanswered, because nobody waits for the answer. */
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

/* Ends a job that makes a partition. A job that found no device memory is tried once more after the
 * partitions that nobody holds have been freed. */
static void partition_end(struct lane *lane, struct job *job)
{
    if (job->status == GS_ERR_NO_DEVICE_MEMORY && placement_free_idle()) {
        partition_retry(job);
        return;
    }
    partition_settle(job);
    grants_poll(lane->now);
}

/* Takes a new job that another thread has queued for the main lane: from the control thread, on the
 * supervisor's behalf, or a chore that one session's job has for another session. Returns false for
 * a job that is back from the service threads. */
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

/* Takes the next step of a request, a chore or a close whose work is done. */
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

/* Frees a closed session, after its modules have been unloaded. */
static void close_end(struct job *job)
{
    grant_deinit(job->session);
    inflight_remove(job->session);
    session_free(job->session);
    job_free(job);
}

/* Takes a returned job of a session that has a chore beside its current job: ends the chore, or
 * keeps the current job until the chore is back. Returns false for other jobs. */
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

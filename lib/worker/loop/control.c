/*
 * control.c - the control thread: reads the supervisor's messages from the link, and makes them
 * jobs for the main lane, settings, or wake-ups. It touches nothing that belongs to a lane.
 */
#include "worker/loop/control.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "common/yield.h"
#include "worker/driver/link_state.h"
#include "worker/driver/prewake.h"
#include "worker/driver/wake.h"
#include "worker/loop/blame.h"
#include "worker/loop/lanes.h"
#include "worker/loop/loop.h"
#include "worker/loop/route.h"
#include "worker/memory/preload.h"
#include "worker/memory/resume.h"
#include "worker/memory/segment_mapping.h"
#include "worker/session/evict.h"
#include "worker/session/grant.h"
#include "worker/session/quiet.h"
#include "worker/session/resume.h"
#include "worker/session/retire.h"
#include "worker/session/session.h"

/* The close job of each slot, made before the slot's session is opened, so that a session can be
 * closed when there is no memory. */
static struct job *closing[LINK_SLOTS_MAX];
static struct link_stats *stats; /* LINK_SLOTS_MAX of them, shared with the supervisor */

/* The pieces and journals of sessions that are to be taken up, until their LINK_OPEN comes. */
static struct resume *resuming;

/* The pieces of a session that is taken up; none may have come. Takes the journal's descriptor. */
static struct resume *resume_take(uint32_t slot, int journal)
{
    struct resume *resume = resuming;

    if (!resume || resume->slot != slot)
        resume = resume_new(slot);
    else
        resuming = NULL;
    if (resume)
        resume->journal = journal;
    else if (journal >= 0)
        close(journal);
    return resume;
}

/* Takes the descriptor. Without memory for it, the session cannot be taken up. */
static void resume_piece(const struct link_message *message, int descriptor)
{
    if (!resuming || resuming->slot != message->slot) {
        resume_free(resuming);
        resuming = resume_new(message->slot);
    }
    if (!resuming)
        close(descriptor);
    else
        resume_add(resuming, &message->u.vault, descriptor);
}

/* Takes the descriptor, that of the journal of a session that is to be taken up, or -1. */
static void open_session(const struct link_message *message, int descriptor)
{
    struct session *session = session_new(message->slot, &message->u.open, &stats[message->slot]);
    struct job *job = session ? job_new(session, &job_open_partition) : NULL;
    struct resume *resume = message->u.open.resume ? resume_take(message->slot, descriptor) : NULL;

    if (resume)
        resume->preload = preload_take(message->slot, &message->u.open);
    if (session)
        session->resume = resume;
    else
        resume_free(resume);
    if (message->u.open.resume && !resume) {
        job_free(job);
        job = NULL;
    }
    if (!closing[message->slot])
        closing[message->slot] = job_new(NULL, &job_close);
    if (!job || !closing[message->slot]) {
        struct link_message refusal = {.op = LINK_OPENED, .slot = message->slot};
        job_free(job);
        session_free(session);
        refusal.u.opened.status = GS_ERR_NO_MEMORY;
        snprintf(refusal.text, sizeof(refusal.text), "the worker has no memory for a session");
        link_send(&refusal, -1);
        return;
    }
    job->index = message->slot;
    job->open = message->u.open;
    job->grant = message->u.open.grant;
    if (grant_has_mask(&job->grant)) {
        job_return(job);
    } else { /* the session needs no partition that would have to be made first */
        job->kind = job->open.resume ? &job_resume : &job_open;
        service_push(job);
    }
}

static void grant_session(const struct link_message *message)
{
    struct job *job = job_new(NULL, &job_grant);

    if (!job) {
        struct link_message refusal = {.op = LINK_GRANTED, .slot = message->slot};
        refusal.u.granted.sequence = message->u.grant.sequence;
        refusal.u.granted.status = GS_ERR_NO_MEMORY;
        snprintf(refusal.text, sizeof(refusal.text), "the worker has no memory for a grant");
        link_send(&refusal, -1);
        return;
    }
    job->index = message->slot;
    job->grant = message->u.grant;
    job_return(job);
}

static void close_session(const struct link_message *message)
{
    struct job *job = closing[message->slot];

    if (!job) {
        log_error("event=bad-message slot=%u reason=\"it was never open, and is to be closed\"",
                  message->slot);
        return;
    }
    closing[message->slot] = NULL;
    job->index = message->slot;
    job_return(job);
}

static void evict_session(const struct link_message *message)
{
    struct job *job = job_new(NULL, &job_evict);

    if (!job) /* the supervisor asks again */
        return;
    job->index = message->slot;
    snprintf(job->message, sizeof(job->message), "%.190s", message->text);
    job_return(job);
}

static void retire_begin(const struct link_message *message)
{
    struct job *job = job_new(NULL, &job_retire);

    if (!job) {
        struct link_message refusal = {.op = LINK_RETIRED, .slot = LINK_SLOT_NONE};
        refusal.u.retired = GS_ERR_NO_MEMORY;
        snprintf(refusal.text, sizeof(refusal.text), "the worker has no memory for that");
        link_send(&refusal, -1);
        return;
    }
    job->arg[0] = message->u.force;
    job_return(job);
}

/* Sleeps until a message has come or has been announced (prewake.h), or the device is lost. */
static void link_sleep(void)
{
    struct pollfd events[] = {
        {LINK_FD, POLLIN, 0}, {prewake_descriptor(), POLLIN, 0}, {lost_descriptor(), POLLIN, 0}};
    uint64_t count;

    if (poll(events, 3, -1) > 0 && events[1].revents &&
        read(events[1].fd, &count, sizeof(count)) < 0)
        log_error("event=worker-failed reason=\"eventfd: %s\"", strerror(errno));
}

/* Waits for the next message; otherwise as link_read. */
static ssize_t link_receive(struct link_message *message, int *descriptor)
{
    struct link_control control;

    for (;;) {
        if (lost_pending())
            blame();
        ssize_t n = link_read(LINK_FD, message, &control, descriptor);

        if (n >= 0 || errno != EAGAIN)
            return n;
        const uint64_t now = clock_ns();
        if (prewake_pending(PREWAKE_LINK, now) && !yields_late(now))
            yield_timed();
        else
            link_sleep();
    }
}

/* Wakes the threads that will have the grant next, so that they are awake when it comes. */
static void grant_announce(const struct link_grant *grant)
{
    prewake(PREWAKE_JOBS);
    if (grant_has_mask(grant))
        prewake(PREWAKE_QUIET);
}

/* Notes whether sessions are being taken up: until all are, none has new work. */
static void resuming_set(bool any)
{
    quiet_resuming(any);
    dispatch_wake();
    lanes_wake();
}

static bool names_slot(uint32_t op)
{
    return op == LINK_OPEN || op == LINK_CLOSE || op == LINK_GRANT || op == LINK_RESUME_PIECE ||
           op == LINK_EVICT;
}

int control_run(struct link_stats *shared)
{
    struct link_message message;
    int descriptor;

    stats = shared;
    for (;;) {
        ssize_t n = link_receive(&message, &descriptor);
        if (n <= 0)
            return 0; /* the supervisor has closed its end */
        if (n != sizeof(message) || (names_slot(message.op) && message.slot >= LINK_SLOTS_MAX)) {
            log_error("event=bad-message size=%zd", n);
            return 1;
        }
        link_heard(&message);
        switch (message.op) {
        case LINK_OPEN:
            grant_announce(&message.u.open.grant);
            open_session(&message, descriptor);
            break;
        case LINK_BEGIN: /* may come twice: a new supervisor cannot know whether the one before
                            has sent it */
            resuming_set(message.u.resuming);
            break;
        case LINK_RESUMED:
            preload_drop(LINK_SLOT_NONE, 0); /* of sessions that have ended since */
            resuming_set(false);
            break;
        case LINK_EVICT:
            evict_session(&message);
            break;
        case LINK_RETIRE:
            retire_begin(&message);
            break;
        case LINK_RESUME_PIECE:
            resume_piece(&message, descriptor);
            break;
        case LINK_CLOSE:
            close_session(&message);
            break;
        case LINK_GRANT:
            prewake_grant_met();
            grant_announce(&message.u.grant);
            grant_session(&message);
            break;
        case LINK_POLICY:
            loop_policy(&message.u.policy);
            break;
        case LINK_TRACE:
            loop_trace(&message.u.trace);
            break;
        case LINK_SEGMENT_DROP:
            segment_mapping_drop(message.u.segment_id);
            dispatch_wake(); /* for the quiet moment that the end of a registration waits for */
            break;
        case LINK_PING:
            message.op = LINK_PONG;
            message.u.ping.stuck_ns = lanes_stuck_ns();
            link_send(&message, -1);
            break;
        case LINK_RESYNC:
            resume_free(resuming); /* the supervisor sends these messages again */
            resuming = NULL;
            if (!link_resync(message.u.resync))
                return 1;
            break;
        case LINK_QUIT:
            return 0;
        default:
            log_error("event=bad-message operation=%u reason=\"it is unknown\"", message.op);
            return 1;
        }
    }
}

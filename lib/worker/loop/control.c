/*
 * control.c - the control thread: reads the supervisor's messages from the link, and turns each
 * into a job for the main lane, a setting, or a wake-up. It touches nothing that belongs to a lane.
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
#include "worker/memory/export.h"
#include "worker/memory/peer_ask.h"
#include "worker/memory/preload.h"
#include "worker/memory/resume.h"
#include "worker/memory/segment_mapping.h"
#include "worker/memory/user.h"
#include "worker/session/evict.h"
#include "worker/session/grant.h"
#include "worker/session/quiet.h"
#include "worker/session/resume.h"
#include "worker/session/retire.h"
#include "worker/session/session.h"

/* The close job of each slot. It is made before the slot's session is opened, so that a session can
 * be closed even when memory is lacking. */
static struct job *closing[LINK_SLOTS_MAX];
static struct link_stats *stats; /* LINK_SLOTS_MAX of them, shared with the supervisor */

/* The pieces (LINK_RESUME_PIECE) of the session that is to be resumed next, until its LINK_OPEN
 * comes. */
static struct resume *resuming;

/* A message of the supervisor, with its descriptor, and whether it ends the worker. */
struct order {
    struct link_message message;
    int descriptor; /* came with the message; the order's function takes it over; -1: none */
    bool ends;      /* the worker ends after this order, with exit status `status` */
    int status;
};

/* Returns the collected pieces of a session that is resumed, or a new empty set if none have come.
 * Takes over the journal's descriptor. NULL: no memory. */
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

/* Collects a piece of a session that is to be resumed. If memory is lacking, the session's
 * resumption fails later. */
static void resume_piece(struct order *order)
{
    const struct link_message *message = &order->message;

    if (!resuming || resuming->slot != message->slot) {
        resume_free(resuming);
        resuming = resume_new(message->slot);
    }
    if (!resuming)
        close(order->descriptor);
    else
        resume_add(resuming, &message->u.vault, order->descriptor);
}

/* Wakes the threads that will handle the grant, so that they are awake when it comes. */
static void grant_announce(const struct link_grant *grant)
{
    prewake(PREWAKE_JOBS);
    if (grant_has_mask(grant))
        prewake(PREWAKE_QUIET);
}

/* Opens a session. The order's descriptor is the journal of a session that is to be resumed. */
static void open_session(struct order *order)
{
    const struct link_message *message = &order->message;

    grant_announce(&message->u.open.grant);
    struct session *session = session_new(message->slot, &message->u.open, &stats[message->slot]);
    struct job *job = session ? job_new(session, &job_open_partition) : NULL;
    struct resume *resume =
        message->u.open.resume ? resume_take(message->slot, order->descriptor) : NULL;

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
    } else { /* the session has the whole device, so no partition must be made first */
        job->kind = job->open.resume ? &job_resume : &job_open;
        service_push(job);
    }
}

static void grant_session(struct order *order)
{
    const struct link_message *message = &order->message;

    prewake_grant_met();
    grant_announce(&message->u.grant);
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

static void close_session(struct order *order)
{
    const struct link_message *message = &order->message;
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

static void evict_session(struct order *order)
{
    const struct link_message *message = &order->message;
    struct job *job = job_new(NULL, &job_evict);

    if (!job) /* the supervisor asks again */
        return;
    job->index = message->slot;
    snprintf(job->message, sizeof(job->message), "%.190s", message->text);
    job_return(job);
}

static void retire_begin(struct order *order)
{
    const struct link_message *message = &order->message;
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

/* Waits for the next message, and returns what link_read returns. */
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

/* Notes whether sessions are being resumed. Until all are, no session has new work. */
static void resuming_set(bool any)
{
    quiet_resuming(any);
    dispatch_wake();
    lanes_wake();
}

/* Handles LINK_BEGIN. It may come twice: a new supervisor cannot know whether the one before has
 * sent it. */
static void device_begin(struct order *order)
{
    resuming_set(order->message.u.resuming);
}

static void resuming_end(struct order *order)
{
    (void)order;
    preload_remove(LINK_SLOT_NONE, 0); /* preloaded memory of sessions that have ended since */
    resuming_set(false);
}

static void policy_set(struct order *order)
{
    loop_policy(&order->message.u.policy);
}

static void trace_begin(struct order *order)
{
    loop_trace(&order->message.u.trace);
}

static void segment_drop(struct order *order)
{
    segment_mapping_remove(order->message.u.segment_id);
    /* the memory is unregistered at a quiet moment, which the main lane must make */
    dispatch_wake();
}

static void ping_answer(struct order *order)
{
    order->message.op = LINK_PONG;
    order->message.u.ping.stuck_ns = lanes_stuck_ns();
    link_send(&order->message, -1);
}

static void peer_export(struct order *order)
{
    export_answer(&order->message);
}

static void peer_imported(struct order *order)
{
    peer_answered(&order->message, order->descriptor);
}

static void peer_revoke(struct order *order)
{
    physical_revoke_peer(order->message.u.vault.number | PHYSICAL_PEER);
}

static void lingering_set(struct order *order)
{
    user_linger(order->message.u.lingering.uid, order->message.u.lingering.bytes);
}

static void resync_answer(struct order *order)
{
    resume_free(resuming); /* the supervisor sends these messages again */
    resuming = NULL;
    peer_ask_again();
    order->ends = !link_resync(order->message.u.resync);
    order->status = 1;
}

static void worker_quit(struct order *order)
{
    order->ends = true;
    order->status = 0;
}

/* The function for each message. */
static const struct {
    void (*function)(struct order *order);
    bool names_slot; /* the message names a slot, which is checked before the call */
} orders[] = {
    [LINK_OPEN] = {open_session, true},          [LINK_CLOSE] = {close_session, true},
    [LINK_GRANT] = {grant_session, true},        [LINK_EVICT] = {evict_session, true},
    [LINK_RESUME_PIECE] = {resume_piece, true},  [LINK_BEGIN] = {device_begin, false},
    [LINK_RESUMED] = {resuming_end, false},      [LINK_RETIRE] = {retire_begin, false},
    [LINK_POLICY] = {policy_set, false},         [LINK_TRACE] = {trace_begin, false},
    [LINK_SEGMENT_DROP] = {segment_drop, false}, [LINK_PING] = {ping_answer, false},
    [LINK_RESYNC] = {resync_answer, false},      [LINK_QUIT] = {worker_quit, false},
    [LINK_PEER_EXPORT] = {peer_export, true},    [LINK_PEER_IMPORTED] = {peer_imported, true},
    [LINK_PEER_REVOKE] = {peer_revoke, false},   [LINK_LINGERING] = {lingering_set, false},
};

/* Returns whether the message's slot is valid, or is not used. */
static bool slot_fits(const struct link_message *message)
{
    return message->op >= ARRAY_SIZE(orders) || !orders[message->op].names_slot ||
           message->slot < LINK_SLOTS_MAX;
}

int control_run(struct link_stats *shared)
{
    struct order order = {.ends = false};

    stats = shared;
    while (!order.ends) {
        ssize_t n = link_receive(&order.message, &order.descriptor);
        if (n <= 0)
            return 0; /* the supervisor has closed its end */
        if (n != sizeof(order.message) || !slot_fits(&order.message)) {
            log_error("event=bad-message size=%zd", n);
            return 1;
        }
        const uint32_t op = order.message.op;
        link_heard(&order.message);
        if (op >= ARRAY_SIZE(orders) || !orders[op].function) {
            log_error("event=bad-message operation=%u reason=\"it is unknown\"", op);
            return 1;
        }
        orders[op].function(&order);
    }
    return order.status;
}

/* resync.c - see resync.h. */
#include "server/workers/resync.h"

#include <poll.h>
#include <stdlib.h>

#include "common/util.h"
#include "server/link/worker_link.h"
#include "server/session/close.h"
#include "server/session/open.h"
#include "server/state/server.h"
#include "server/workers/ending.h"
#include "server/workers/messages.h"

struct resync {
    uint64_t number;
    bool done;
    struct link_session reported[LINK_SLOTS_MAX]; /* state 0: the slot is empty */
};

bool resync_take(struct device *device, const struct link_message *message)
{
    struct resync *resync = device->worker.resync;

    if (message->op == LINK_SESSION && message->slot >= LINK_SLOTS_MAX)
        return false;
    /* An answer to a former supervisor, which was killed before it read the answer, is ignored. */
    if (message->op == LINK_SESSION && resync && message->u.session.resync == resync->number)
        resync->reported[message->slot] = message->u.session;
    else if (message->op == LINK_RESYNCED && resync && message->u.resync == resync->number)
        resync->done = true;
    return true;
}

/* Settles the grant that was on its way, which the worker has received, has answered, or never
 * got. */
static void grant_agree(struct session *session, const struct link_session *reported)
{
    struct session_grant *grant = &session->grant;
    const struct link_granted granted = {.sequence = reported->answered,
                                         .status = (int32_t)reported->status};

    if (reported->answered && reported->answered == grant->sent.sequence) {
        grant->awaited = true; /* the answer may have been handled in part */
        grants_granted(session, &granted, "");
    } else if (reported->asked != grant->sent.sequence) {
        grant->awaited = false;
    }
}

/* Brings the session's state in line with the worker's report. `reported`: NULL if the worker has
 * no such session. Returns false if the report is invalid. */
static bool session_agree(struct session *session, const struct link_session *reported)
{
    switch (session->state) {
    case SESSION_OPENING:
        if (!reported) { /* the message was not sent, or the worker has refused the session and
                            will refuse it again */
            grants_clear(session);
            session->state = SESSION_WAITING;
        } else if (reported->state == LINK_SESSION_OPEN) {
            return server_session_opened(session, &reported->opened, "");
        }
        return true;
    case SESSION_OPEN:
        if (!reported || reported->state != LINK_SESSION_OPEN)
            return false;
        if (session->reply.queue >=
            0) { /* the killed supervisor had not finished handling its LINK_OPENED */
            session->state = SESSION_OPENING;
            return server_session_opened(session, &reported->opened, "");
        }
        grant_agree(session, reported);
        return true;
    case SESSION_CLOSING:
        if (!reported)
            return server_session_closed(session);
        server_session_close_again(session, reported->state == LINK_SESSION_CLOSING);
        return true;
    case SESSION_WAITING:
    case SESSION_LOST:
    case SESSION_FREE:
        break;
    }
    return !reported;
}

/* Handles messages until the worker has answered, has ended, or has been ended for an invalid
 * message. Returns false if none of these happens in time. */
static bool answer_await(struct device *device, const struct resync *resync, uint64_t deadline)
{
    for (;;) {
        struct pollfd link = {device->worker.child.link.fd, POLLIN, 0};
        const uint64_t now = clock_ns();

        /* Messages behind the answer are newer than the answer. */
        while (!resync->done && worker_receive_one(device))
            continue;
        if (resync->done || device->worker.state != WORKER_READY ||
            device->worker.child.link.fd < 0)
            return true;
        if (now >= deadline)
            return false;
        poll(&link, 1, (int)((deadline - now) / 1000000u) + 1);
    }
}

/* Brings all sessions' states in line with the worker's reports. */
static bool sessions_agree(struct device *device, const struct resync *resync)
{
    for (struct session *s = NULL; (s = device_session_next(device, s));) {
        const struct link_session *reported = &resync->reported[s->slot];

        if (!session_agree(s, reported->state && reported->session_id == s->id ? reported : NULL))
            return false;
    }
    return true;
}

void worker_resync_begin(struct device *device)
{
    struct link_message ask = {.op = LINK_RESYNC, .slot = LINK_SLOT_NONE};
    struct worker_process *worker = &device->worker;

    worker->resync = calloc(1, sizeof(*worker->resync));
    if (!worker->resync) {
        worker_fail(device, NULL, LINK_SLOT_NONE, "no memory for what worker %d has",
                    (int)worker->child.pid);
        return;
    }
    worker->resync->number = ask.u.resync = clock_ns();
    worker_send(device, &ask);
}

void worker_resync_end(struct device *device, uint64_t deadline)
{
    const struct link_message resumed = {.op = LINK_RESUMED, .slot = LINK_SLOT_NONE};
    struct worker_process *worker = &device->worker;
    struct resync *resync = worker->resync;

    if (!resync)
        return;
    if (!answer_await(device, resync, deadline))
        worker_fail(device, NULL, LINK_SLOT_NONE, "worker %d does not answer a new supervisor",
                    (int)worker->child.pid);
    else if (resync->done && worker->state == WORKER_READY && !sessions_agree(device, resync))
        worker_fail(device, NULL, LINK_SLOT_NONE,
                    "worker %d tells a new supervisor of sessions that cannot be",
                    (int)worker->child.pid);
    else if (device->resuming == 0) /* the killed supervisor may not have told the worker */
        worker_send(device, &resumed);
    worker->resync = NULL;
    worker->pinged_ns = worker->stuck_ns = 0;
    free(resync);
}

/* settle.c - see settle.h. */
#include "server/reconcile/settle.h"

#include <stdio.h>

#include "common/log.h"
#include "common/util.h"
#include "server/reconcile/plan.h"
#include "server/session/close.h"
#include "server/session/events.h"
#include "server/session/qos_requests.h"
#include "server/state/server.h"

/* The most time allowed for an answer to reach its client, which may have to wait for a processor.
 * It is a quarter of the client's patience if that is less. */
#define ANSWER_SPARE_NS 2000000000u

static void patience_fire(struct timer *timer);

void settle_await(struct session *session)
{
    if (session->state == SESSION_WAITING)
        qos_requests_await(session, patience_fire);
}

/* ---- What a session waits for ---------------------------------------------------------------- */

/* Describes what a session waits for that has asked for SMs and has no answer in time. */
static void wait_describe(const struct session *s, char text[REFUSAL_TEXT_MAX])
{
    const struct session *blocker = NULL;

    if (s->device->worker.state != WORKER_READY) {
        refusal(text, GS_ERR_TIMEOUT, "device %d is not ready in time: %.80s", s->device->index,
                s->device->failure[0] ? s->device->failure : "its worker is starting");
        return;
    }
    if (device_silent(s->device, SILENT_NS) && device_stuck(s->device)) {
        refusal(text, GS_ERR_TIMEOUT, "worker %d of device %d is stuck in a driver call",
                (int)s->device->worker.child.pid, s->device->index);
        return;
    }
    if (device_silent(s->device, SILENT_NS)) {
        refusal(text, GS_ERR_TIMEOUT,
                "worker %d of device %d does not answer: it is stopped, or has no processor",
                (int)s->device->worker.child.pid, s->device->index);
        return;
    }
    if (s->device->resuming && !s->resuming && s->state == SESSION_WAITING) {
        refusal(
            text, GS_ERR_TIMEOUT,
            "the worker of device %d was lost, and the next one was still taking up %u sessions",
            s->device->index, s->device->resuming);
        return;
    }
    if (grants_due(s)) {
        struct sm_mask alone = grants_alone(s->device);
        blocker = grants_blocker(s, &alone);
    }
    if (blocker && blocker->state == SESSION_CLOSING)
        refusal(text, GS_ERR_TIMEOUT,
                "session %llu is ending, but its kernels still run on these SMs",
                (unsigned long long)blocker->id);
    else if (blocker)
        refusal(
            text, GS_ERR_TIMEOUT,
            "session %llu could not leave these SMs in time: running kernels keep it from getting "
            "others",
            (unsigned long long)blocker->id);
    else
        refusal(text, GS_ERR_TIMEOUT, "the SMs could not be given in time: kernels run on");
}

/* Returns the session whose refused grant blocks this session's grant, or NULL. */
static const struct session *wait_blamed(const struct session *s)
{
    const struct session *blocker;
    struct sm_mask alone;

    if (s->grant.refused)
        return s;
    /* Refused grants count until they are tried again. */
    if (s->device->grant_retry.due_ns == 0 || !grants_due(s))
        return NULL;
    alone = grants_alone(s->device);
    blocker = grants_blocker(s, &alone);
    return blocker && blocker->grant.refused ? blocker : NULL;
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void request_begin(struct session *session)
{
    const struct qos_request *request = session->requests.first;
    char text[REFUSAL_TEXT_MAX];
    gs_status status;

    if (clock_ns() >= request->due_ns) {
        status =
            refusal(text, GS_ERR_TIMEOUT, "the session's earlier requests have taken over %u s",
                    (unsigned)(GRANT_PATIENCE_NS / 1000000000u));
        qos_requests_answer(session, status, text);
        return;
    }
    session->requests.former = session->qos;
    session->qos = request->qos;
    status = plan_request(session->device, session, text);
    if (status != GS_OK) {
        session->qos = session->requests.former;
        qos_requests_answer(session, status, text);
        return;
    }
    qos_requests_await(session, patience_fire);
}

void settle_begin(struct session *session)
{
    while (session->state == SESSION_OPEN && session->requests.first && !session->requests.listed)
        request_begin(session);
}

/* Plans the session's former request again. If that does not fit any more, the session keeps its
 * new request, which is tried again. */
static void request_undo(struct session *session)
{
    struct wire_qos wanted = session->qos;
    char text[REFUSAL_TEXT_MAX];

    session->qos = session->requests.former;
    if (plan_again(session->device, text) != GS_OK) {
        log_warning(
            "event=plan-failed session=%llu reason=\"it cannot go back to what it had: %s\"",
            (unsigned long long)session->id, text);
        session->qos = wanted;
    }
    device_due(session->device, DUE_SEND);
}

static void wait_fail(struct session *session, gs_status status, const char *text)
{
    if (session->state == SESSION_WAITING) {
        server_session_refuse(session, status, text);
        return;
    }
    request_undo(session);
    qos_requests_answer(session, status, text);
}

/* ---- Those who wait -------------------------------------------------------------------------- */

/* Answers the client if the session's grant is in force or impossible. Returns whether the wait has
 * ended. */
static bool session_settle(struct session *session)
{
    const struct session *blamed;
    char text[REFUSAL_TEXT_MAX + 32];

    if (session->state == SESSION_OPENING ||
        (session->state == SESSION_OPEN && !session->requests.first)) {
        qos_requests_unlist(session); /* an attach that had to wait; LINK_OPENED will answer it */
        return true;
    }
    if (grants_in_force(session)) {
        qos_requests_answer(session, GS_OK, "");
        return true;
    }
    blamed = wait_blamed(session);
    if (!blamed)
        return false;
    if (blamed == session)
        snprintf(text, sizeof(text), "%s", blamed->grant.refusal);
    else
        snprintf(text, sizeof(text), "session %llu cannot be moved: %s",
                 (unsigned long long)blamed->id, blamed->grant.refusal);
    wait_fail(session, blamed->grant.refusal_status, text);
    return true;
}

static void patience_fire(struct timer *timer)
{
    struct session *session = container_of(timer, struct session, requests.patience);
    struct device *device = session->device;
    char text[REFUSAL_TEXT_MAX];

    if (!session_settle(session)) {
        wait_describe(session, text);
        wait_fail(session, GS_ERR_TIMEOUT, text);
    }
    settle_begin(session);
    device_due(device, DUE_SETTLE);
}

/* Settling one session takes no other session out of the list, but may change what others wait for.
 * So new plans are sent, and the list is walked again, until nothing changes. */
void settle_device(struct device *device)
{
    struct session *next;

    for (struct session *s = device->awaited; s; s = next) {
        next = s->requests.next;
        if (!session_settle(s))
            continue;
        settle_begin(s);
        device_due(device, DUE_SETTLE);
        if (device->due & DUE_SEND)
            return;
    }
}

/* ---- Attaches -------------------------------------------------------------------------------- */

/* Refuses the attach because the client will not wait longer. */
static void answer_fire(struct timer *timer)
{
    struct session *session = container_of(timer, struct session, answer_by);
    char text[REFUSAL_TEXT_MAX];

    wait_describe(session, text);
    if (session->state == SESSION_WAITING) {
        server_session_refuse(session, GS_ERR_TIMEOUT, text);
        return;
    }
    attach_refused_count(session->server, GS_ERR_TIMEOUT);
    reply_refuse(&session->reply, GS_ERR_TIMEOUT, "%s", text);
    reply_close(&session->reply);
    server_session_close(session);
}

void settle_attach_restore(struct session *session)
{
    if (session->reply.queue >= 0 && session->give_up_ns)
        timer_set(&session->server->loop, &session->answer_by, session->give_up_ns, answer_fire);
}

void settle_attach_by(struct session *session, uint64_t patience_ns)
{
    const uint64_t now = clock_ns();
    uint64_t spare = patience_ns / 4;

    if (patience_ns == 0)
        return;
    if (spare > ANSWER_SPARE_NS)
        spare = ANSWER_SPARE_NS;
    session->give_up_ns = now + patience_ns - spare;
    timer_set(&session->server->loop, &session->answer_by, now + patience_ns - spare / 2,
              answer_fire);
}

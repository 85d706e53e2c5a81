/* qos_request.c - see qos_request.h. */
#include "server/session/qos_requests.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/util.h"
#include "server/control/operator.h"
#include "server/state/qos.h"

/* A session's threads may ask side by side; more than so many at once are no use. */
#define QOS_REQUESTS_MAX 16u

/* ---- Those whom somebody waits for ----------------------------------------------------------- */

static void patience_fire(struct timer *timer);

static void list_add(struct session *session)
{
    struct device *device = session->device;

    if (!session->requests.listed) {
        session->requests.listed = true;
        session->requests.next = device->awaited;
        device->awaited = session;
        timer_set(&session->server->loop, &session->requests.patience,
                  session->requests.first ? session->requests.first->due_ns
                                          : clock_ns() + GRANT_PATIENCE_NS,
                  patience_fire);
    }
}

static void list_remove(struct session *session)
{
    struct session **link = &session->device->awaited;

    if (!session->requests.listed)
        return;
    while (*link != session)
        link = &(*link)->requests.next;
    *link = session->requests.next;
    session->requests.listed = false;
    timer_cancel(&session->server->loop, &session->requests.patience);
}

void qos_request_wait(struct session *session)
{
    if (session->state == SESSION_WAITING)
        list_add(session);
}

/* ---- One request --------------------------------------------------------------------------------
 */

/* Answers the one under way; what is next begins with the next qos_requests_settle. */
static void qos_request_answer(struct session *session, gs_status status, const char *text)
{
    struct qos_request *request = session->requests.first;
    struct ctl_done_reply answer = {.status = GS_OK};

    session->requests.first = request->next;
    list_remove(session);
    if (status == GS_OK)
        reply_send(&request->reply, &answer.h, sizeof(answer));
    else
        reply_refuse(&request->reply, status, "%s", text);
    reply_close(&request->reply);
    free(request);
}

bool qos_request_new(const struct session *session)
{
    return session->state == SESSION_WAITING ||
           (session->requests.first && !session->requests.listed);
}

static void qos_request_begin(struct session *session)
{
    char text[REFUSAL_TEXT_MAX];
    gs_status status;

    if (clock_ns() >= session->requests.first->due_ns) {
        refusal(text, GS_ERR_TIMEOUT, "the session's earlier requests have taken over %u s",
                (unsigned)(GRANT_PATIENCE_NS / 1000000000u));
        qos_request_answer(session, GS_ERR_TIMEOUT, text);
        return;
    }
    session->requests.former = session->qos;
    session->qos = session->requests.first->qos;
    status = grants_place(session->device, session, text);
    if (status != GS_OK) {
        session->qos = session->requests.former;
        qos_request_answer(session, status, text);
        return;
    }
    list_add(session);
    grants_pump(session->device);
}

/* One that is refused at once leaves its place to the next. */
static void line_advance(struct session *session)
{
    while (session->state == SESSION_OPEN && session->requests.first && !session->requests.listed)
        qos_request_begin(session);
}

/* The session has again what it had. Where that has been given away since, it keeps its new
 * request, which is tried on. */
static void qos_request_undo(struct session *session)
{
    struct wire_qos wanted = session->qos;
    char text[REFUSAL_TEXT_MAX];

    session->qos = session->requests.former;
    if (grants_place(session->device, NULL, text) != GS_OK) {
        log_warning("session %llu cannot go back to what it had: %s",
                    (unsigned long long)session->id, text);
        session->qos = wanted;
    }
    grants_pump(session->device);
}

static void qos_request_fail(struct session *session, gs_status status, const char *text)
{
    if (session->state == SESSION_WAITING) {
        server_session_refuse(session, status, text);
        return;
    }
    qos_request_undo(session);
    qos_request_answer(session, status, text);
}

/* Has it come to an end? */
static bool qos_request_settle(struct session *session)
{
    const struct session *blamed;
    char text[REFUSAL_TEXT_MAX + 32];

    if (session->state == SESSION_OPENING ||
        (session->state == SESSION_OPEN && !session->requests.first)) {
        list_remove(session); /* an attach that had waited: LINK_OPENED will answer it */
        return true;
    }
    if (grants_hold(session)) {
        qos_request_answer(session, GS_OK, "");
        return true;
    }
    blamed = grants_blamed(session);
    if (!blamed)
        return false;
    if (blamed == session)
        snprintf(text, sizeof(text), "%s", blamed->grant.refusal);
    else
        snprintf(text, sizeof(text), "session %llu cannot be moved: %s",
                 (unsigned long long)blamed->id, blamed->grant.refusal);
    qos_request_fail(session, blamed->grant.refusal_status, text);
    return true;
}

static void patience_fire(struct timer *timer)
{
    struct session *session = container_of(timer, struct session, requests.patience);
    struct device *device = session->device;
    char text[REFUSAL_TEXT_MAX];

    if (qos_request_settle(session)) {
        line_advance(session);
        return;
    }
    grants_describe_wait(session, text);
    qos_request_fail(session, GS_ERR_TIMEOUT, text);
    line_advance(session);
    qos_requests_settle(device);
}

/* Settling one changes nothing in the list but its own place, and perhaps what others wait for: so
 * once more, until nothing changes. */
void qos_requests_settle(struct device *device)
{
    bool changed = true;

    while (changed) {
        struct session *next;

        changed = false;
        for (struct session *t = device->awaited; t; t = next) {
            next = t->requests.next;
            if (qos_request_settle(t)) {
                line_advance(t);
                changed = true;
            }
        }
    }
    operator_settle(device->server);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static gs_status qos_request_admit(const struct session *session, const struct ctl_set_qos *request,
                                   uid_t uid, char text[REFUSAL_TEXT_MAX])
{
    if (!session || session->uid != uid) {
        snprintf(text, REFUSAL_TEXT_MAX, "uid %u has no such session", (unsigned)uid);
        return GS_ERR_PERMISSION;
    }
    if (session->state == SESSION_LOST) {
        snprintf(text, REFUSAL_TEXT_MAX, "the session's device was lost");
        return GS_ERR_INTERRUPTED;
    }
    if (session->state != SESSION_OPEN) {
        snprintf(text, REFUSAL_TEXT_MAX, "the session is ending");
        return GS_ERR_INVALID_HANDLE;
    }
    return qos_check(&request->qos, session->device, text);
}

static bool line_full(const struct session *session)
{
    uint32_t count = 0;

    for (const struct qos_request *w = session->requests.first; w; w = w->next)
        count++;
    return count >= QOS_REQUESTS_MAX;
}

void qos_request_handle(struct server *server, const struct ctl_set_qos *request,
                        struct reply *reply)
{
    struct session *session = registry_by_cookie(&server->registry, request->cookie);
    char text[REFUSAL_TEXT_MAX];
    gs_status status = qos_request_admit(session, request, reply->uid, text);
    struct qos_request **last, *more;

    if (status != GS_OK) {
        reply_refuse(reply, status, "%s", text);
        return;
    }
    if (line_full(session)) {
        reply_refuse(reply, GS_ERR_LIMIT, "%u such requests of this session are under way",
                     QOS_REQUESTS_MAX);
        return;
    }
    more = malloc(sizeof(*more));
    if (!more) {
        reply_refuse(reply, GS_ERR_NO_MEMORY, "the server has no memory left");
        return;
    }
    *more = (struct qos_request){*reply, request->qos, clock_ns() + GRANT_PATIENCE_NS, NULL};
    reply->queue = -1;
    for (last = &session->requests.first; *last; last = &(*last)->next)
        continue;
    *last = more;
    line_advance(session);
    qos_requests_settle(session->device);
}

void qos_requests_end(struct session *session, gs_status status, const char *text)
{
    list_remove(session);
    while (session->requests.first)
        qos_request_answer(session, status, text);
}

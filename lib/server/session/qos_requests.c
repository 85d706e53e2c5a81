/* qos_requests.c - see qos_requests.h. */
#include "server/session/qos_requests.h"

#include <stdlib.h>

#include "common/util.h"
#include "server/state/server.h"

/* ---- The queue ------------------------------------------------------------------------------- */

bool qos_requests_push(struct session *session, const struct wire_qos *qos, struct reply *reply)
{
    struct qos_request **last = &session->requests.first, *request = malloc(sizeof(*request));

    if (!request)
        return false;
    *request = (struct qos_request){*reply, *qos, clock_ns() + GRANT_PATIENCE_NS, NULL};
    reply->queue = -1;
    while (*last)
        last = &(*last)->next;
    *last = request;
    return true;
}

bool qos_requests_full(const struct session *session)
{
    uint32_t count = 0;

    for (const struct qos_request *r = session->requests.first; r; r = r->next)
        count++;
    return count >= QOS_REQUESTS_MAX;
}

void qos_requests_answer(struct session *session, gs_status status, const char *text)
{
    struct qos_request *request = session->requests.first;
    struct ctl_done_reply answer = {.status = GS_OK};

    session->requests.first = request->next;
    qos_requests_unlist(session);
    if (status == GS_OK)
        reply_send(&request->reply, &answer.h, sizeof(answer));
    else
        reply_refuse(&request->reply, status, "%s", text);
    reply_close(&request->reply);
    free(request);
}

void qos_requests_keep(struct session *session)
{
    /* An open session in the list has a request in progress, which begins anew. */
    if (session->state == SESSION_OPEN && session->requests.listed && session->requests.first)
        session->qos = session->requests.former;
    qos_requests_unlist(session);
}

void qos_requests_refuse_all(struct session *session, gs_status status, const char *text)
{
    qos_requests_unlist(session);
    while (session->requests.first)
        qos_requests_answer(session, status, text);
}

/* ---- The list -------------------------------------------------------------------------------- */

void qos_requests_await(struct session *session, void (*fire)(struct timer *patience))
{
    struct session_requests *requests = &session->requests;

    if (requests->listed)
        return;
    requests->listed = true;
    requests->next = session->device->awaited;
    session->device->awaited = session;
    /* No request of a session that is being taken up is in progress. */
    timer_set(&session->server->loop, &requests->patience,
              requests->first && session->state == SESSION_OPEN ? requests->first->due_ns
                                                                : clock_ns() + GRANT_PATIENCE_NS,
              fire);
}

void qos_requests_unlist(struct session *session)
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

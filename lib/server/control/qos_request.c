/* qos_request.c - CTL_SET_QOS: a session asks for another quality of service. */
#include "common/log_event.h"
#include "server/control/control.h"
#include "server/reconcile/settle.h"
#include "server/session/qos_requests.h"
#include "server/state/qos.h"

static gs_status request_admit(const struct session *session, const struct ctl_set_qos *request,
                               uid_t uid, char text[REFUSAL_TEXT_MAX])
{
    if (!session || session->uid != uid)
        return refusal(text, GS_ERR_PERMISSION, "user %s has no such session", log_user_name(uid));
    if (session->state == SESSION_LOST)
        return refusal(text, GS_ERR_INTERRUPTED, "the session's device was lost");
    if (session->state != SESSION_OPEN && !session->resuming)
        return refusal(text, GS_ERR_INVALID_HANDLE, "the session is ending");
    return qos_check(&request->qos, session->device, text);
}

void qos_request_handle(struct server *server, const struct ctl_set_qos *request,
                        struct reply *reply)
{
    struct session *session = registry_by_cookie(&server->registry, request->cookie);
    char text[REFUSAL_TEXT_MAX];
    gs_status status = request_admit(session, request, reply->uid, text);

    if (status == GS_OK && qos_requests_full(session))
        status = refusal(text, GS_ERR_LIMIT, "%u such requests of this session are under way",
                         QOS_REQUESTS_MAX);
    if (status == GS_OK && !qos_requests_push(session, &request->qos, reply))
        status = refusal(text, GS_ERR_NO_MEMORY, "the server has no memory left");
    if (status == GS_OK)
        settle_begin(session);
    else
        reply_refuse(reply, status, "%s", text);
}

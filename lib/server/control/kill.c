/* kill.c - CTL_KILL: the operator ends sessions. */
#include <stdio.h>

#include "server/control/operator.h"
#include "server/session/close.h"
#include "server/session/events.h"

#define GRACE_MAX_MS 86400000u

static bool meant(const struct ctl_kill *request, const struct session *session)
{
    switch (request->target) {
    case CTL_KILL_SESSION:
        return session->id == request->id;
    case CTL_KILL_PROCESS:
        return session->pid > 0 && (uint64_t)session->pid == request->id;
    default:
        return session->uid == request->id;
    }
}

void operator_kill(struct server *server, const struct ctl_kill *request, struct reply *reply)
{
    struct ctl_kill_reply answer = {.status = GS_OK};

    if (!operator_allowed(reply))
        return;
    if (request->target > CTL_KILL_USER || request->grace_ms > GRACE_MAX_MS) {
        reply_refuse(reply, GS_ERR_INVALID_VALUE, "target %u or a grace of %u ms is none",
                     request->target, request->grace_ms);
        return;
    }
    for (struct session *s = NULL, *next; (next = registry_next(&server->registry, s)); s = next) {
        if (!meant(request, next) || next->state == SESSION_LOST)
            continue;
        struct log_event event = log_event_begin("kill");
        log_event_user(&event, "by", reply->uid);
        event_session(&event, next);
        log_event_number(&event, "grace_ms", request->grace_ms);
        log_event_write(&event, LOG_LEVEL_INFO);
        answer.count++;
        server_session_kill(next, request->grace_ms);
    }
    if (answer.count)
        reply_send(reply, &answer.h, sizeof(answer));
    else
        reply_refuse(reply, GS_ERR_NOT_FOUND, "there is no such session: see gsctl ps");
}

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

/* Counts the session, once: a next supervisor deals with the request from its begin. */
static void session_count(struct killing *killing, struct session *session, uint32_t grace_ms,
                          const struct reply *by)
{
    struct log_event event = log_event_begin("kill");

    if (session->kill_token == killing->token)
        return;
    reply_log(&event, by);
    event_session(&event, session);
    log_event_number(&event, "grace_ms", grace_ms);
    log_event_write(&event, LOG_LEVEL_INFO);
    killing->count++;
    session->kill_token = killing->token;
}

/* Refuses a request that no session fits: says what there is none of. */
static void nobody_refuse(const struct ctl_kill *request, struct reply *reply)
{
    const unsigned long long id = request->id;

    if (request->target == CTL_KILL_SESSION)
        reply_refuse(reply, GS_ERR_NOT_FOUND, "there is no session %llu: see gsctl ps", id);
    else if (request->target == CTL_KILL_PROCESS)
        reply_refuse(reply, GS_ERR_NOT_FOUND, "process %llu has no session: see gsctl ps", id);
    else
        reply_refuse(reply, GS_ERR_NOT_FOUND, "user %s has no session: see gsctl ps",
                     log_user_name((uid_t)id));
}

void operator_kill(struct server *server, const struct ctl_kill *request, struct reply *reply)
{
    struct ctl_kill_reply answer = {.status = GS_OK};
    struct killing *killing = &server->killing;
    bool lost = false;

    if (request->target > CTL_KILL_USER) {
        reply_refuse(reply, GS_ERR_INVALID_VALUE, "target %u: there are 0 to %d", request->target,
                     CTL_KILL_USER);
        return;
    }
    if (request->grace_ms > GRACE_MAX_MS) {
        reply_refuse(reply, GS_ERR_INVALID_VALUE, "a grace of %u ms: at most %u", request->grace_ms,
                     GRACE_MAX_MS);
        return;
    }
    if (killing->token != reply->token)
        *killing = (struct killing){.token = reply->token};
    for (struct session *s = NULL, *next; (next = registry_next(&server->registry, s)); s = next) {
        if (!meant(request, next))
            continue;
        if (next->state == SESSION_LOST) {
            lost = true;
            continue;
        }
        session_count(killing, next, request->grace_ms, reply);
        server_session_kill(next, request->grace_ms);
    }
    answer.count = killing->count;
    if (answer.count)
        reply_send(reply, &answer.h, sizeof(answer));
    else if (lost)
        reply_refuse(reply, GS_ERR_NOT_FOUND,
                     "it has ended already: gsctl ps has it as lost until its process detaches or "
                     "ends");
    else
        nobody_refuse(request, reply);
}

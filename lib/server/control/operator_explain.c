/* operator_explain.c - CTL_EXPLAIN: what a session may have, and who says so. */
#include <stdio.h>
#include <string.h>

#include "server/control/operator.h"
#include "server/state/qos.h"

/* What counts of each source: what gsctl sets goes before the policy file, and what is set for a
 * user or a session before what holds for other users. */
static void sources_fill(const struct session *session, struct ctl_settings set[CTL_SOURCES])
{
    const struct server *server = session->server;

    set[CTL_SOURCE_DEFAULT] = server->settings.everybody;
    set[CTL_SOURCE_DEFAULT_FILE] = server->policy.everybody;
    set[CTL_SOURCE_DEFAULT_FILE].fields &= ~set[CTL_SOURCE_DEFAULT].fields;
    set[CTL_SOURCE_MPS] = server->options.mps;
    set[CTL_SOURCE_MPS].fields &=
        ~(set[CTL_SOURCE_DEFAULT].fields | set[CTL_SOURCE_DEFAULT_FILE].fields);
    set[CTL_SOURCE_USER] = settings_of_user(&server->settings, session->uid);
    set[CTL_SOURCE_USER_FILE] = settings_of_user(&server->policy, session->uid);
    set[CTL_SOURCE_USER_FILE].fields &= ~set[CTL_SOURCE_USER].fields;
    if (server_other(server, session->uid)) {
        set[CTL_SOURCE_OTHERS] = qos_others(server, session->device);
        set[CTL_SOURCE_OTHERS].fields &=
            ~(set[CTL_SOURCE_USER].fields | set[CTL_SOURCE_USER_FILE].fields | session->set.fields);
    }
    set[CTL_SOURCE_SESSION] = session->set;
}

/* Says why what was decided for the session is not in force yet, and names whom it waits for. */
static void wait_fill(const struct session *session, uid_t asker, struct ctl_explain_reply *answer)
{
    const struct session_grant *grant = &session->grant;
    const struct session *blocker = NULL;
    struct sm_mask alone;

    if ((session->state != SESSION_OPEN && session->state != SESSION_WAITING) ||
        grants_in_force(session))
        return;
    if (session->device->worker.state != WORKER_READY) {
        snprintf(answer->waits, sizeof(answer->waits),
                 "the worker of device %d, which is not ready", session->device->index);
        return;
    }
    if (grant->refused) {
        snprintf(answer->waits, sizeof(answer->waits), "another try: %.100s", grant->refusal);
        return;
    }
    alone = grants_alone(session->device);
    if (grants_due(session))
        blocker = grants_blocker(session, &alone);
    if (blocker) {
        const bool shown = server_shows(session->server, asker, blocker->uid);

        answer->waits_for = blocker->id;
        snprintf(answer->waits, sizeof(answer->waits), "session %llu (%s), which has these SMs",
                 (unsigned long long)blocker->id, shown ? blocker->name : "another user's");
    } else {
        snprintf(answer->waits, sizeof(answer->waits), "running kernels to end");
    }
}

void operator_explain(struct server *server, const struct ctl_admin *request,
                      const struct reply *reply)
{
    struct session *session = registry_by_id(&server->registry, request->cursor);
    struct ctl_explain_reply answer = {.status = GS_OK};
    const struct link_grant *grant;
    struct sm_mask sms;

    if (!session || !server_shows(server, reply->uid, session->uid)) {
        reply_refuse(reply, GS_ERR_NOT_FOUND, "there is no session %llu: see gsctl ps",
                     (unsigned long long)request->cursor);
        return;
    }
    grant = &session->grant.target;
    sms = grants_sms(session);
    answer.session_id = session->id;
    answer.state = session_tenant_state(session);
    answer.mem_asked = session->mem_asked;
    answer.mem_limit = session->mem_limit;
    answer.server_mem_limit = server->options.mem_limit;
    answer.user_mem_limit = grant->user_mem_limit;
    answer.asked = session->qos;
    answer.uid = session->uid;
    answer.device = session->device->index;
    answer.sm_count = sm_mask_count(&sms);
    memcpy(answer.sm_mask, sms.word, sizeof(answer.sm_mask));
    answer.device_sms = session->device->info.sm_count;
    answer.exclusive = session->grant.applied.exclusive;
    answer.cls = grant->cls;
    answer.priority = grant->priority;
    answer.weight = grant->weight;
    answer.launches_max = grant->launches_max;
    answer.kernel_limit = grant->kernel_limit;
    answer.provision = server->settings.provision;
    answer.fenced = session->fenced;
    answer.fence_policy = (uint32_t)server->options.fence;
    answer.other = server_other(server, session->uid);
    memcpy(answer.name, session->name, sizeof(answer.name));
    if (session->space)
        memcpy(answer.reservation, server->settings.reservation[session->space - 1].name,
               sizeof(answer.reservation));
    sources_fill(session, answer.set);
    wait_fill(session, reply->uid, &answer);
    reply_send(reply, &answer.h, sizeof(answer));
}

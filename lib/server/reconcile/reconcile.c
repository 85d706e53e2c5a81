/* reconcile.c - see reconcile.h. */
#include "server/reconcile/reconcile.h"

#include "common/log.h"
#include "server/reconcile/changes.h"
#include "server/reconcile/plan.h"
#include "server/reconcile/policy.h"
#include "server/reconcile/send.h"
#include "server/reconcile/settle.h"
#include "server/session/close.h"
#include "server/session/peer_memory.h"
#include "server/state/qos.h"
#include "server/state/server.h"
#include "server/state/session.h"

/* ---- Placing without a request --------------------------------------------------------------- */

/* Returns the oldest session that came when there was no worker and has no place yet, or NULL. */
static struct session *early_first(const struct device *device)
{
    struct session *first = NULL;

    for (struct session *s = NULL; (s = device_session_next(device, s));) {
        if (s->state == SESSION_WAITING && sm_mask_empty(&s->grant.sms) &&
            (!first || s->id < first->id))
            first = s;
    }
    return first;
}

/* Places one such session, or refuses it. Returns false if there is none left. */
static bool early_place(struct device *device)
{
    struct session *s = early_first(device);
    char text[REFUSAL_TEXT_MAX];
    gs_status status;

    if (!s)
        return false;
    status = qos_check(&s->qos, device, text);
    if (status == GS_OK)
        status = plan_request(device, s, text);
    if (status != GS_OK)
        server_session_refuse(s, status, text);
    return true;
}

/* Plans the device without a request. Of sessions that came before the worker it places one per
 * round, so that other events do not wait for a thousand of them. */
static void device_place_anew(struct device *device)
{
    char text[REFUSAL_TEXT_MAX];

    if (device->worker.state != WORKER_READY)
        return;
    device->early = device->early && early_place(device);
    if (device->early)
        device_plan_soon(device);
    else if (plan_again(device, text) != GS_OK)
        log_warning("event=plan-failed device=%d reason=\"SMs stay as they are: %s\"",
                    device->index, text);
    device_due(device, DUE_SEND | DUE_SETTLE);
}

/* ---- The round ------------------------------------------------------------------------------- */

static bool due_take(struct device *device, enum device_due due)
{
    bool was = device->due & due;

    device->due &= ~(uint32_t)due;
    return was;
}

/* Takes the due steps. Each step may make others due, including earlier ones. */
static void device_reconcile(struct device *device)
{
    while (device->due) {
        if (due_take(device, DUE_PLAN))
            device_place_anew(device);
        if (due_take(device, DUE_POLICY))
            policy_update(device);
        if (due_take(device, DUE_SEND))
            grants_send(device);
        if (due_take(device, DUE_SETTLE))
            settle_device(device);
    }
}

void reconcile(struct server *server)
{
    for (int i = 0; i < server->device_count; i++)
        device_reconcile(&server->device[i]);
    changes_settle(server);
    peer_memory_go_on(server);
}

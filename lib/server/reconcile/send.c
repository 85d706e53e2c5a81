/* send.c - see send.h. */
#include "server/reconcile/send.h"

#include <string.h>

#include "server/link/worker_link.h"
#include "server/reconcile/settle.h"
#include "server/reconcile/wait.h"
#include "server/state/server.h"
#include "server/state/session.h"

static void session_open(struct session *session)
{
    struct link_message message = {.op = LINK_OPEN, .slot = session->slot};

    session->state = SESSION_OPENING;
    message.u.open = (struct link_open){.segment_id = session->segment_id,
                                        .uid = session->uid,
                                        .session_id = session->id,
                                        .give_up_ns = session->give_up_ns,
                                        .grant = session->grant.sent};
    memcpy(message.u.open.name, session->name, sizeof(message.u.open.name));
    worker_send(session->device, &message);
}

static void grant_send(struct session *t, const struct link_grant *grant)
{
    struct session_grant *g = &t->grant;
    struct link_message message = {.op = LINK_GRANT, .slot = t->slot};

    g->sent = *grant;
    g->sent.sequence = ++g->sequence;
    g->outdated = false;
    if (t->state == SESSION_WAITING) {
        session_open(t);
        return;
    }
    g->awaited = true;
    message.u.grant = g->sent;
    worker_send(t->device, &message);
}

/* It waits for SMs that are to be its alone. Of those that it shares until then, `wanted` are
 * waited for by others: it leaves them. */
static void grant_send_part(struct session *t, const struct sm_mask *wanted)
{
    struct sm_mask alone = grants_held(t, true), held = grants_held(t, false);
    struct sm_mask part = sm_mask_and(held, t->grant.place);
    struct sm_mask rest = sm_mask_minus(held, t->grant.place);
    struct link_grant grant = t->grant.target;

    if (t->state != SESSION_OPEN || !grant.exclusive || !sm_mask_empty(&alone) ||
        sm_mask_empty(&part) || !sm_mask_meets(&rest, wanted))
        return;
    grant.exclusive = 0;
    memcpy(grant.sm_mask, part.word, sizeof(grant.sm_mask));
    grant_send(t, &grant);
}

/* An attach need not wait for SMs that another is giving up: it begins with the others. */
static void grant_open_part(struct session *t, const struct sm_mask *alone)
{
    struct sm_mask part = sm_mask_minus(t->grant.place, *alone);
    struct link_grant grant = t->grant.target;

    if (t->state != SESSION_WAITING || grant.exclusive || t->space || sm_mask_empty(&part))
        return;
    memcpy(grant.sm_mask, part.word, sizeof(grant.sm_mask));
    grant_send(t, &grant);
}

void grants_send(struct device *device)
{
    struct sm_mask alone, wanted = {{0}};

    if (device->worker.state != WORKER_READY)
        return;
    alone = grants_alone(device);
    device->blocked = 0;
    for (struct session *t = NULL; (t = registry_next(&device->server->registry, t));) {
        if (t->device != device || !grants_due(t))
            continue;
        if (device->constrained && wait_blocker(t, &alone)) {
            device->blocked++;
            wanted = sm_mask_or(wanted, t->grant.place);
            grant_open_part(t, &alone);
            settle_await(t);
            continue;
        }
        grant_send(t, &t->grant.target);
    }
    for (struct session *t = NULL;
         device->blocked > 1 && (t = registry_next(&device->server->registry, t));) {
        if (t->device == device && grants_due(t))
            grant_send_part(t, &wanted);
    }
}

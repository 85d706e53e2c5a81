/* send.c - see send.h. */
#include "server/reconcile/send.h"

#include <string.h>

#include "server/link/worker_link.h"
#include "server/reconcile/settle.h"
#include "server/state/server.h"
#include "server/state/session.h"

/* Sends the descriptors of the session's memory to a worker that takes the session up. */
static void pieces_send(const struct session *session)
{
    struct link_message message = {.op = LINK_RESUME_PIECE, .slot = session->slot};

    for (uint32_t i = 0; i < session->vault.count; i++) {
        const struct vault_entry *entry = session->vault.entry[i];

        message.u.vault = (struct link_vault){entry->address, entry->size, entry->number};
        worker_send_with(session->device, &message, entry->fd);
    }
}

static void session_open(struct session *session)
{
    const struct account *account = account_find(&session->server->accounts, session->uid);
    struct link_message message = {.op = LINK_OPEN, .slot = session->slot};

    session->state = SESSION_OPENING;
    message.u.open = (struct link_open){.segment_id = session->segment_id,
                                        .uid = session->uid,
                                        .session_id = session->id,
                                        .give_up_ns = session->resuming ? 0 : session->give_up_ns,
                                        .fenced = session->fenced,
                                        .resume = session->resuming,
                                        .replay = session->replay,
                                        .pid = session->pid,
                                        .window_base = session->window_base,
                                        .window_size = session->window_size,
                                        .kernel_heap = session->kernel_heap,
                                        .unkept = session->server->options.no_takeover,
                                        .suspect_ns = account ? account->suspect_ns : 0,
                                        .grant = session->grant.sent};
    memcpy(message.u.open.name, session->name, sizeof(message.u.open.name));
    if (session->resuming)
        pieces_send(session);
    worker_send_with(session->device, &message, session->resuming ? session->journal : -1);
}

static void grant_send(struct session *s, const struct link_grant *grant)
{
    struct session_grant *g = &s->grant;
    struct link_message message = {.op = LINK_GRANT, .slot = s->slot};

    g->sent = *grant;
    g->sent.sequence = ++g->sequence;
    g->outdated = false;
    if (s->state == SESSION_WAITING) {
        session_open(s);
        return;
    }
    g->awaited = true;
    message.u.grant = g->sent;
    worker_send(s->device, &message);
}

/* Sends a part of the grant of a session that waits for exclusive SMs and still has shared ones.
 * Others wait for the SMs of `wanted`, so the session gives up its share of these at once. */
static void grant_send_part(struct session *s, const struct sm_mask *wanted)
{
    struct sm_mask alone = grants_held_alone(s), held = grants_held(s);
    struct sm_mask part = sm_mask_and(held, s->grant.sms);
    struct sm_mask rest = sm_mask_minus(held, s->grant.sms);
    struct link_grant grant = s->grant.target;

    if (s->state != SESSION_OPEN || !grant.exclusive || !sm_mask_empty(&alone) ||
        sm_mask_empty(&part) || !sm_mask_meets(&rest, wanted))
        return;
    grant.exclusive = 0;
    memcpy(grant.sm_mask, part.word, sizeof(grant.sm_mask));
    grant_send(s, &grant);
}

/* Opens a session on the part of its SMs that are free, instead of waiting for SMs that another
 * session is giving up. */
static void grant_open_part(struct session *s, const struct sm_mask *alone)
{
    struct sm_mask part = sm_mask_minus(s->grant.sms, *alone);
    struct link_grant grant = s->grant.target;

    if (s->state != SESSION_WAITING || grant.exclusive || s->space || sm_mask_empty(&part))
        return;
    memcpy(grant.sm_mask, part.word, sizeof(grant.sm_mask));
    grant_send(s, &grant);
}

void grants_send(struct device *device)
{
    struct sm_mask alone, wanted = {{0}};

    if (device->worker.state != WORKER_READY)
        return;
    alone = grants_alone(device);
    device->blocked = 0;
    for (struct session *s = NULL; (s = device_session_next(device, s));) {
        if (!grants_due(s))
            continue;
        if (device->constrained && grants_blocker(s, &alone)) {
            device->blocked++;
            wanted = sm_mask_or(wanted, s->grant.sms);
            grant_open_part(s, &alone);
            settle_await(s);
            continue;
        }
        grant_send(s, &s->grant.target);
    }
    for (struct session *s = NULL; device->blocked > 1 && (s = device_session_next(device, s));) {
        if (grants_due(s))
            grant_send_part(s, &wanted);
    }
}

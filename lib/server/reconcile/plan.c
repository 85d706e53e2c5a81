/*
 * placement.c - the placer asked about a device's sessions: what they may have is gathered, and the
 * answer becomes their targets. Sends nothing; see grants.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "server/session/qos_requests.h"
#include "server/state/qos.h"

/* Takes part in the placing of the others. One that is closing keeps what is its alone until its
 * last kernel is done; what it shared is of no matter any more. */
static bool session_placed(const struct session *t, const struct session *asker)
{
    switch (t->state) {
    case SESSION_WAITING:
        return t == asker || !sm_mask_empty(&t->grant.place);
    case SESSION_OPENING:
    case SESSION_OPEN:
        return true;
    case SESSION_CLOSING: {
        struct sm_mask alone = grants_held(t, true);
        return !sm_mask_empty(&alone);
    }
    default:
        return false;
    }
}

/* Sessions share the SMs out by the operator's policy; those of a reservation by themselves. */
static void shares_set(struct device *device, const struct session *asker)
{
    const struct registry *registry = &device->server->registry;
    uint32_t mode = device->server->settings.provision, sms = sm_mask_count(&device->space[0]);
    uint64_t sessions = 0, weights = 0;
    struct qos_effect effect;
    char text[REFUSAL_TEXT_MAX];

    for (struct session *t = NULL; (t = registry_next(registry, t));) {
        if (t->device != device || !session_placed(t, asker))
            continue;
        t->share = 0;
        if (t->space != 0)
            continue;
        sessions++;
        if (mode == CTL_PROVISION_WEIGHTED && qos_effect(t, &effect, text) == GS_OK)
            weights += effect.grant.weight;
        else
            weights++;
    }
    for (struct session *t = NULL; (t = registry_next(registry, t));) {
        uint64_t share = sms;

        if (mode == CTL_PROVISION_EXACT || t->device != device || t->space != 0 ||
            !session_placed(t, asker))
            continue;
        if (mode == CTL_PROVISION_HALF)
            share = (2 * (uint64_t)sms + sessions - 1) / sessions;
        else if (mode == CTL_PROVISION_WEIGHTED && qos_effect(t, &effect, text) == GS_OK)
            share = (sms * (uint64_t)effect.grant.weight + weights - 1) / weights;
        else
            share = (sms + weights - 1) / weights;
        t->share = share < sms ? (uint32_t)share : sms;
    }
}

/* What it may have, and whether that is what it asks for just now. Who else is in the way is named:
 * the answer goes to the asker. */
static gs_status effect_make(const struct session *t, const struct session *asker,
                             struct qos_effect *effect, char text[REFUSAL_TEXT_MAX])
{
    char why[REFUSAL_TEXT_MAX];
    gs_status status = qos_effect(t, effect, why);

    if (status == GS_OK && t == asker && qos_request_new(t) && t->qos.exclusive &&
        !effect->grant.exclusive)
        return refusal(text, GS_ERR_PERMISSION, "the operator allows no exclusive SMs here");
    if (status == GS_OK)
        return GS_OK;
    if (t == asker)
        return refusal(text, status, "%s", why);
    return refusal(text, status, "session %llu: %.95s", (unsigned long long)t->id, why);
}

static gs_status item_make(const struct session *t, const struct session *asker,
                           struct placer_session *item, struct link_grant *target, char *text)
{
    struct qos_effect effect;
    gs_status status = effect_make(t, asker, &effect, text);

    *item = (struct placer_session){.id = t->id,
                                    .space = t->space,
                                    .mask = t->grant.place,
                                    .was_exclusive = t->grant.target.exclusive &&
                                                     !sm_mask_empty(&t->grant.place),
                                    .held = grants_held(t, false),
                                    .sure = grants_sure(t),
                                    .held_exclusive = grants_held(t, true)};
    if (t->state == SESSION_CLOSING) { /* no request any more but to be left alone until its end */
        item->exclusive = item->was_exclusive = item->bounded = item->leaving = true;
        item->mask = item->within = item->held_exclusive;
        return GS_OK;
    }
    if (status != GS_OK)
        return status;
    *target = effect.grant;
    item->sms = effect.sms;
    item->within = effect.within;
    item->bounded = effect.bounded;
    item->exclusive = effect.grant.exclusive;
    item->whole =
        t == asker && qos_request_new(t) && t->qos.affinity_type == GS_EXEC_AFFINITY_SM_MASK;
    return GS_OK;
}

struct placement {
    struct session *session;
    struct link_grant target;
};

static int placement_order(const void *a, const void *b)
{
    const struct placement *x = a, *y = b;

    return (x->session->id > y->session->id) - (x->session->id < y->session->id);
}

static void placement_commit(struct device *device, const struct placement *p,
                             const struct placer_session *item)
{
    struct session_grant *g = &p->session->grant;
    struct link_grant former = g->target;
    bool constrained = item->sms || item->bounded || item->exclusive || item->space ||
                       !sm_mask_empty(&item->held_exclusive) ||
                       !sm_mask_equal(&item->next, &device->sms.all);

    if (p->session->state == SESSION_CLOSING)
        return;
    device->constrained += constrained;
    device->constrained -= g->constrained;
    g->constrained = constrained;
    g->target = p->target;
    g->place = item->next;
    if (!sm_mask_equal(&item->next, &device->sms.all))
        memcpy(g->target.sm_mask, item->next.word, sizeof(g->target.sm_mask));
    if (!grant_same(&g->target, &former)) {
        g->refused = false;
        g->outdated = true;
    }
}

/* A session like most: the whole device for it, as for all others. */
static bool placed_simply(struct device *device, struct session *t)
{
    struct qos_effect effect;
    char text[REFUSAL_TEXT_MAX];

    if (device->constrained || !sm_mask_equal(&device->space[0], &device->sms.all) || t->space ||
        device->server->settings.provision != CTL_PROVISION_EXACT ||
        effect_make(t, t, &effect, text) != GS_OK || effect.sms || effect.bounded ||
        effect.grant.exclusive)
        return false;
    t->grant.outdated |= !grant_same(&t->grant.target, &effect.grant);
    t->grant.refused &= !t->grant.outdated;
    t->grant.target = effect.grant;
    t->grant.place = device->sms.all;
    return true;
}

gs_status grants_place(struct device *device, struct session *asker, char text[REFUSAL_TEXT_MAX])
{
    const struct registry *registry = &device->server->registry;
    uint32_t count = 0, asked, room = device->sessions;
    gs_status status = GS_OK;

    if (asker && placed_simply(device, asker))
        return GS_OK; /* and the policy is what it was */
    CLEANUP_FREE struct placement *p = calloc(room ? room : 1, sizeof(*p));
    CLEANUP_FREE struct placer_session *item = calloc(room ? room : 1, sizeof(*item));
    if (!p || !item) {
        snprintf(text, REFUSAL_TEXT_MAX, "no memory to place %u tenants", room);
        return GS_ERR_NO_MEMORY;
    }
    shares_set(device, asker);
    for (struct session *t = NULL; (t = registry_next(registry, t));) {
        if (t->device == device && session_placed(t, asker))
            p[count++].session = t;
    }
    qsort(p, count, sizeof(*p), placement_order);
    asked = count;
    for (uint32_t i = 0; status == GS_OK && i < count; i++) {
        if (p[i].session == asker)
            asked = i;
        status = item_make(p[i].session, asker, &item[i], &p[i].target, text);
    }
    if (status == GS_OK)
        status = placer_place(&device->sms, device->space, item, count, asked, text);
    for (uint32_t i = 0; status == GS_OK && i < count; i++)
        placement_commit(device, &p[i], &item[i]);
    if (status == GS_OK)
        policy_update(device);
    return status;
}

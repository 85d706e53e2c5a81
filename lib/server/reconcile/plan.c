/* plan.c - see plan.h. */
#include "server/reconcile/plan.h"

#include <stdlib.h>
#include <string.h>

#include "common/setting_text.h"
#include "common/util.h"
#include "server/state/qos.h"

/* ---- What goes into a candidate -------------------------------------------------------------- */

/* The request for a plan. */
struct ask {
    const struct session *session; /* the session that asks; NULL: none */
    bool anew;                     /* the session gets all that it asks for, or a refusal */
};

struct placement {
    struct session *session;
    struct link_grant target;
};

struct candidate {
    struct device *device; /* NULL: no candidate */
    uint32_t count;
    struct placement *placement;
    struct placer_session *item; /* one for each placement */
};

/* Returns whether the session takes part in the plan. A closing session keeps its exclusive SMs
 * until its last kernel has ended; its shared SMs do not matter any more. */
static bool session_placed(const struct session *s, const struct ask *ask)
{
    switch (s->state) {
    case SESSION_WAITING:
        return s == ask->session || !sm_mask_empty(&s->grant.sms);
    case SESSION_OPENING:
    case SESSION_OPEN:
        return true;
    case SESSION_CLOSING: {
        struct sm_mask alone = grants_held_alone(s);
        return !sm_mask_empty(&alone);
    }
    default:
        return false;
    }
}

/* The SMs that the provisioning policy divides among sessions. A reservation's SMs are not part of
 * it. */
struct shares {
    uint32_t mode;              /* enum ctl_provision_mode */
    uint32_t sms;               /* SMs outside all reservations */
    uint64_t sessions, weights; /* number and weights of the sessions there */
};

static struct shares shares_sum(const struct candidate *c)
{
    struct shares shares = {.mode = c->device->server->settings.provision,
                            .sms = sm_mask_count(&c->device->space[0])};
    struct qos_effect effect;
    char text[REFUSAL_TEXT_MAX];

    for (uint32_t i = 0; i < c->count; i++) {
        const struct session *s = c->placement[i].session;

        if (s->space != 0)
            continue;
        shares.sessions++;
        if (shares.mode == CTL_PROVISION_WEIGHTED && qos_effect(s, 0, &effect, text) == GS_OK)
            shares.weights += effect.grant.weight;
        else
            shares.weights++;
    }
    return shares;
}

/* Returns the number of SMs that the policy leaves the session; 0: any number. */
static uint32_t share_of(const struct shares *shares, const struct session *s)
{
    const uint64_t sms = shares->sms;
    struct qos_effect effect;
    char text[REFUSAL_TEXT_MAX];
    uint64_t share;

    if (shares->mode == CTL_PROVISION_EXACT || s->space != 0)
        return 0;
    if (shares->mode == CTL_PROVISION_HALF)
        share = (2 * sms + shares->sessions - 1) / shares->sessions;
    else if (shares->mode == CTL_PROVISION_WEIGHTED && qos_effect(s, 0, &effect, text) == GS_OK)
        share = (sms * effect.grant.weight + shares->weights - 1) / shares->weights;
    else
        share = (sms + shares->weights - 1) / shares->weights;
    return (uint32_t)(share < sms ? share : sms);
}

/* Computes what the session may have. Refuses if that is less than a session that has just asked
 * wants. A refusal because of another session names that session, since the answer goes to the
 * asker. */
static gs_status effect_make(const struct session *s, uint32_t share, const struct ask *ask,
                             struct qos_effect *effect, char text[REFUSAL_TEXT_MAX])
{
    char why[REFUSAL_TEXT_MAX];
    gs_status status = qos_effect(s, share, effect, why);

    if (status == GS_OK && s == ask->session && ask->anew && s->qos.exclusive &&
        !effect->grant.exclusive)
        return refusal(text, GS_ERR_PERMISSION, "the operator allows no exclusive SMs here");
    if (status == GS_OK)
        return GS_OK;
    if (s == ask->session)
        return refusal(text, status, "%s", why);
    return refusal(text, status, "session %llu: %.95s", (unsigned long long)s->id, why);
}

static gs_status item_make(const struct session *s, uint32_t share, const struct ask *ask,
                           struct placer_session *item, struct link_grant *target,
                           char text[REFUSAL_TEXT_MAX])
{
    struct qos_effect effect;
    gs_status status;

    *item = (struct placer_session){.id = s->id,
                                    .space = s->space,
                                    .mask = s->grant.sms,
                                    .was_exclusive =
                                        s->grant.target.exclusive && !sm_mask_empty(&s->grant.sms),
                                    .held = grants_held(s),
                                    .sure = grants_sure(s),
                                    .held_exclusive = grants_held_alone(s)};
    if (s->state == SESSION_CLOSING) { /* a closing session keeps its exclusive SMs */
        item->exclusive = item->was_exclusive = item->bounded = item->leaving = true;
        item->mask = item->within = item->held_exclusive;
        return GS_OK;
    }
    status = effect_make(s, share, ask, &effect, text);
    if (status != GS_OK)
        return status;
    *target = effect.grant;
    item->sms = effect.sms;
    item->within = effect.within;
    item->bounded = effect.bounded;
    item->exclusive = effect.grant.exclusive;
    item->whole =
        s == ask->session && ask->anew && s->qos.affinity_type == GS_EXEC_AFFINITY_SM_MASK;
    return GS_OK;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static int placement_order(const void *a, const void *b)
{
    const struct placement *x = a, *y = b;

    return (x->session->id > y->session->id) - (x->session->id < y->session->id);
}

static void candidate_deinit(struct candidate *c)
{
    free(c->placement);
    free(c->item);
}

static gs_status candidate_gather(struct candidate *c, const struct ask *ask, uint32_t *asked,
                                  char text[REFUSAL_TEXT_MAX])
{
    gs_status status = GS_OK;
    struct shares shares;

    for (struct session *s = NULL; (s = device_session_next(c->device, s));) {
        if (session_placed(s, ask))
            c->placement[c->count++].session = s;
    }
    qsort(c->placement, c->count, sizeof(*c->placement), placement_order);
    shares = shares_sum(c);
    *asked = c->count;
    for (uint32_t i = 0; status == GS_OK && i < c->count; i++) {
        struct placement *p = &c->placement[i];

        if (p->session == ask->session)
            *asked = i;
        status = item_make(p->session, share_of(&shares, p->session), ask, &c->item[i], &p->target,
                           text);
    }
    return status;
}

/* Checks the user's limit on sets. A worker can hold only few sets of SMs (LINK_SETS_MAX). Sessions
 * that ask for a number of SMs share sets if these are scarce; a mask and exclusive SMs take a set
 * of their own, so these are limited for each user. */
static gs_status sets_check(const struct candidate *c, const struct ask *ask,
                            char text[REFUSAL_TEXT_MAX])
{
    const struct session *asker = ask->session;
    struct sm_mask sets[SETTING_SETS_MAX];
    struct ctl_settings limit;
    uint32_t count = 0, k;

    if (!asker || !ask->anew ||
        (asker->qos.affinity_type != GS_EXEC_AFFINITY_SM_MASK && !asker->qos.exclusive))
        return GS_OK;
    limit = qos_of_user(c->device->server, asker->uid, c->device);
    if (!(limit.fields & CTL_USER_SETS))
        return GS_OK;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct session *s = c->placement[i].session;

        if (s->uid != asker->uid || s->state == SESSION_CLOSING ||
            (s->qos.affinity_type != GS_EXEC_AFFINITY_SM_MASK && !c->item[i].exclusive))
            continue;
        for (k = 0; k < count && !sm_mask_equal(&sets[k], &c->item[i].next);)
            k++;
        if (k < count)
            continue;
        if (count == limit.user_sets)
            return refusal(text, GS_ERR_LIMIT, "the user's sessions have %u sets of SMs, the limit",
                           count);
        sets[count++] = c->item[i].next;
    }
    return GS_OK;
}

/* Places all sessions of the device on the candidate only. The caller deinitialises the candidate
 * in any case. */
static gs_status candidate_init(struct candidate *c, struct device *device, const struct ask *ask,
                                char text[REFUSAL_TEXT_MAX])
{
    const uint32_t room = device->sessions ? device->sessions : 1;
    gs_status status;
    uint32_t asked;

    *c = (struct candidate){.device = device,
                            .placement = calloc(room, sizeof(*c->placement)),
                            .item = calloc(room, sizeof(*c->item))};
    if (!c->placement || !c->item)
        return refusal(text, GS_ERR_NO_MEMORY, "no memory to place %u tenants", room);
    status = candidate_gather(c, ask, &asked, text);
    if (status == GS_OK)
        status = placer_place(&device->sms, device->space, c->item, c->count, asked, text);
    if (status == GS_OK)
        status = sets_check(c, ask, text);
    return status;
}

/* Notes that the target has changed, so that it is sent even if the worker refused the former
 * one. */
static void target_changed(struct session_grant *g)
{
    g->refused = false;
    g->outdated = true;
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
    g->sms = item->next;
    if (!sm_mask_equal(&item->next, &device->sms.all))
        memcpy(g->target.sm_mask, item->next.word, sizeof(g->target.sm_mask));
    if (!grant_same(&g->target, &former))
        target_changed(g);
}

static void candidate_commit(const struct candidate *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        placement_commit(c->device, &c->placement[i], &c->item[i]);
    device_due(c->device, DUE_POLICY | DUE_SEND | DUE_SETTLE);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static gs_status device_plan(struct device *device, const struct ask *ask,
                             char text[REFUSAL_TEXT_MAX])
{
    struct candidate candidate;
    gs_status status = candidate_init(&candidate, device, ask, text);

    if (status == GS_OK)
        candidate_commit(&candidate);
    candidate_deinit(&candidate);
    return status;
}

/* Plans a session that has the whole device in the common case that all others have it too, without
 * placing the others anew. Returns false if this is another case. */
static bool planned_simply(struct session *s, const struct ask *ask)
{
    struct device *device = s->device;
    struct qos_effect effect;
    char text[REFUSAL_TEXT_MAX];

    if (device->constrained || !sm_mask_equal(&device->space[0], &device->sms.all) || s->space ||
        device->server->settings.provision != CTL_PROVISION_EXACT ||
        effect_make(s, 0, ask, &effect, text) != GS_OK || effect.sms || effect.bounded ||
        effect.grant.exclusive)
        return false;
    if (!grant_same(&s->grant.target, &effect.grant))
        target_changed(&s->grant);
    s->grant.target = effect.grant;
    s->grant.sms = device->sms.all;
    device_due(device, DUE_SEND | DUE_SETTLE); /* the policy has not changed */
    return true;
}

gs_status plan_request(struct device *device, struct session *asker, char text[REFUSAL_TEXT_MAX])
{
    const struct ask ask = {.session = asker, .anew = true};

    return planned_simply(asker, &ask) ? GS_OK : device_plan(device, &ask, text);
}

gs_status plan_again(struct device *device, char text[REFUSAL_TEXT_MAX])
{
    return device_plan(device, &(const struct ask){.session = NULL}, text);
}

gs_status plan_change(struct server *server, const struct session *about,
                      char text[REFUSAL_TEXT_MAX])
{
    const struct ask ask = {.session = about};
    struct candidate candidate[DEVICES_MAX];
    gs_status status = GS_OK;
    int count = 0;

    for (int i = 0; status == GS_OK && i < server->device_count; i++) {
        if (server->device[i].worker.state == WORKER_READY)
            status = candidate_init(&candidate[count++], &server->device[i], &ask, text);
    }
    for (int i = 0; i < count; i++) {
        if (status == GS_OK)
            candidate_commit(&candidate[i]);
        candidate_deinit(&candidate[i]);
    }
    return status;
}

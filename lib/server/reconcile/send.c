/* grants.c - see grants.h. */
#include "server/state/grants.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/util.h"
#include "server/session/qos_requests.h"
#include "server/state/qos.h"

#define RETRY_NS 1000000000u

/* ---- What holds ------------------------------------------------------------------------------ */

static struct sm_mask mask_spelled(const struct device *device, const uint64_t word[])
{
    struct sm_mask mask = sm_mask_of(word);

    return sm_mask_empty(&mask) ? device->sms.all : mask;
}

struct sm_mask grants_sms(const struct session *t)
{
    if (t->state != SESSION_OPEN && t->state != SESSION_CLOSING)
        return (struct sm_mask){{0}};
    return mask_spelled(t->device, t->grant.applied.sm_mask);
}

static bool grants_any(const struct session *t)
{
    return t->state == SESSION_OPENING || t->state == SESSION_OPEN || t->state == SESSION_CLOSING;
}

struct sm_mask grants_held(const struct session *t, bool exclusive)
{
    const struct session_grant *g = &t->grant;
    struct sm_mask held = {{0}};
    bool on_its_way = g->awaited || t->state == SESSION_OPENING;

    if (!grants_any(t))
        return held;
    if (t->state != SESSION_OPENING && (!exclusive || g->applied.exclusive))
        held = mask_spelled(t->device, g->applied.sm_mask);
    if (on_its_way && (!exclusive || g->sent.exclusive))
        held = sm_mask_or(held, mask_spelled(t->device, g->sent.sm_mask));
    return held;
}

struct sm_mask grants_sure(const struct session *t)
{
    const struct session_grant *g = &t->grant;
    struct sm_mask sent = mask_spelled(t->device, g->sent.sm_mask),
                   applied = mask_spelled(t->device, g->applied.sm_mask);

    if (!grants_any(t))
        return (struct sm_mask){{0}};
    if (t->state == SESSION_OPENING)
        return sent;
    return g->awaited ? sm_mask_and(applied, sent) : applied;
}

bool grant_same(const struct link_grant *a, const struct link_grant *b)
{
    struct link_grant c = *b;

    c.sequence = a->sequence;
    return memcmp(a, &c, sizeof(c)) == 0;
}

bool grants_hold(const struct session *t)
{
    return t->state == SESSION_OPEN && !t->grant.awaited &&
           grant_same(&t->grant.target, &t->grant.applied);
}

uint32_t grants_open_count(const struct device *device)
{
    uint32_t count = 0;

    for (struct session *t = NULL; (t = registry_next(&device->server->registry, t));) {
        if (t->device != device)
            continue;
        if (t->state == SESSION_OPENING) /* it will hold from its first launch on */
            count += !grant_same(&t->grant.target, &t->grant.sent);
        else if (t->state == SESSION_OPEN)
            count += !grants_hold(t);
    }
    return count;
}

/* ---- Sending --------------------------------------------------------------------------------- */

/* Whose SMs it waits for, or NULL. alone: all SMs that are anybody's alone, as a first look. */
static const struct session *grant_blocker(const struct session *t, const struct sm_mask *alone)
{
    const struct sm_mask *place = &t->grant.place;

    if (!t->grant.target.exclusive && t->space == 0 && !sm_mask_meets(place, alone))
        return NULL;
    for (const struct session *o = NULL; (o = registry_next(&t->server->registry, o));) {
        bool all = t->grant.target.exclusive || t->space != o->space;
        struct sm_mask held;

        if (o == t || o->device != t->device)
            continue;
        held = grants_held(o, !all);
        if (sm_mask_meets(place, &held))
            return o;
    }
    return NULL;
}

static struct sm_mask device_alone(const struct device *device)
{
    struct sm_mask alone = {{0}};

    if (device->constrained == 0)
        return alone;
    for (const struct session *t = NULL; (t = registry_next(&device->server->registry, t));) {
        if (t->device == device)
            alone = sm_mask_or(alone, grants_held(t, true));
    }
    return alone;
}

/* Does it have something to be sent? */
static bool grant_due(const struct session *t)
{
    if (t->state == SESSION_WAITING)
        return !sm_mask_empty(&t->grant.place) && t->device->worker.state == WORKER_READY;
    return t->state == SESSION_OPEN && !t->grant.awaited && !t->grant.refused &&
           !grant_same(&t->grant.target, &t->grant.applied);
}

static void grant_send(struct session *t, const struct link_grant *grant)
{
    struct session_grant *g = &t->grant;
    struct link_message message = {.op = LINK_GRANT, .slot = t->slot};

    g->sent = *grant;
    g->sent.sequence = ++g->sequence;
    g->outdated = false;
    if (t->state == SESSION_WAITING) {
        server_session_open(t);
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

void grants_pump(struct device *device)
{
    struct sm_mask alone = device_alone(device), wanted = {{0}};

    device->blocked = 0;
    for (struct session *t = NULL; (t = registry_next(&device->server->registry, t));) {
        if (t->device != device || !grant_due(t))
            continue;
        if (device->constrained && grant_blocker(t, &alone)) {
            device->blocked++;
            wanted = sm_mask_or(wanted, t->grant.place);
            grant_open_part(t, &alone);
            qos_request_wait(t);
            continue;
        }
        grant_send(t, &t->grant.target);
    }
    for (struct session *t = NULL;
         device->blocked > 1 && (t = registry_next(&device->server->registry, t));) {
        if (t->device == device && grant_due(t))
            grant_send_part(t, &wanted);
    }
}

void grants_describe_wait(const struct session *t, char text[REFUSAL_TEXT_MAX])
{
    const struct session *blocker = NULL;

    if (t->device->worker.state != WORKER_READY) {
        refusal(text, GS_ERR_TIMEOUT, "device %d is not ready in time: %.80s", t->device->index,
                t->device->failure[0] ? t->device->failure : "its worker is starting");
        return;
    }
    if (grant_due(t)) {
        struct sm_mask alone = device_alone(t->device);
        blocker = grant_blocker(t, &alone);
    }
    if (blocker && blocker->state == SESSION_CLOSING)
        refusal(text, GS_ERR_TIMEOUT,
                "session %llu (%s) is ending, but its kernels still run on these SMs",
                (unsigned long long)blocker->id, blocker->name);
    else if (blocker)
        refusal(text, GS_ERR_TIMEOUT,
                "session %llu (%s) could not leave these SMs in time: running kernels keep it from "
                "getting others",
                (unsigned long long)blocker->id, blocker->name);
    else
        refusal(text, GS_ERR_TIMEOUT, "the SMs could not be given in time: kernels run on");
}

const struct session *grants_blamed(const struct session *t)
{
    const struct session *blocker;
    struct sm_mask alone;

    if (t->grant.refused)
        return t;
    /* Until all are tried again, the time for that is set: else nobody is refused. */
    if (t->device->grant_retry.due_ns == 0 || !grant_due(t))
        return NULL;
    alone = device_alone(t->device);
    blocker = grant_blocker(t, &alone);
    return blocker && blocker->grant.refused ? blocker : NULL;
}

void grants_load(const struct device *device, uint32_t *load, struct sm_mask *room)
{
    for (const struct session *t = NULL; (t = registry_next(&device->server->registry, t));) {
        const struct session_grant *g = &t->grant;
        struct sm_mask alone;

        if (t->device != device || sm_mask_empty(&g->place))
            continue;
        alone = grants_held(t, true);
        if (g->target.exclusive)
            alone = sm_mask_or(alone, g->place);
        *room = sm_mask_minus(*room, alone);
        for (uint32_t i = 0; g->constrained && i < device->sms.group_count; i++)
            load[i] += sm_mask_meets(&device->sms.group[i], &g->place);
    }
}

/* ---- From the loop --------------------------------------------------------------------------- */

/* The oldest session that came when there was no worker and is to be placed yet, or NULL. */
static struct session *early_first(const struct device *device)
{
    struct session *first = NULL;

    for (struct session *t = NULL; (t = registry_next(&device->server->registry, t));) {
        if (t->device == device && t->state == SESSION_WAITING && sm_mask_empty(&t->grant.place) &&
            (!first || t->id < first->id))
            first = t;
    }
    return first;
}

/* Places one of them. false: there are none left. */
static bool early_place(struct device *device)
{
    struct session *t = early_first(device);
    char text[REFUSAL_TEXT_MAX];
    gs_status status;

    if (!t)
        return false;
    status = qos_check(&t->qos, device, text);
    if (status == GS_OK)
        status = grants_place(device, t, text);
    if (status != GS_OK)
        server_session_refuse(t, status, text);
    return true;
}

static void device_place(struct device *device)
{
    char text[REFUSAL_TEXT_MAX];

    if (device->worker.state != WORKER_READY)
        return;
    device->early = device->early && early_place(device);
    if (device->early)
        grants_soon(device); /* each in a turn of its own: others are not to wait for a thousand */
    else if (grants_place(device, NULL, text) != GS_OK)
        log_warning("device %d: SMs stay as they are: %s", device->index, text);
    grants_pump(device);
    qos_requests_settle(device);
}

static void soon_fire(struct timer *timer)
{
    device_place(container_of(timer, struct device, place_soon));
}

void grants_soon(struct device *device)
{
    if (device->place_soon.due_ns == 0)
        timer_set(&device->server->loop, &device->place_soon, clock_ns(), soon_fire);
}

static void retry_fire(struct timer *timer)
{
    struct device *device = container_of(timer, struct device, grant_retry);

    for (struct session *t = NULL; (t = registry_next(&device->server->registry, t));) {
        if (t->device == device)
            t->grant.refused = false;
    }
    device_place(device);
}

void grants_ready(struct device *device)
{
    for (struct session *t = NULL; (t = registry_next(&device->server->registry, t));) {
        if (t->device == device && t->state == SESSION_WAITING)
            grants_forget(t);
    }
    device->early = true;
    grants_soon(device);
}

/* ---- The worker's answers -------------------------------------------------------------------- */

static void granted_refused(struct session *t, int32_t status, const char *text)
{
    struct device *device = t->device;
    bool known = status > GS_NOT_READY && status <= GS_ERR_PROTOCOL;

    t->grant.refusal_status = known ? (gs_status)status : GS_ERR_PROTOCOL;

    t->grant.refused = true;
    if (strncmp(t->grant.refusal, text, sizeof(t->grant.refusal) - 1) != 0) /* said once */
        log_warning("device %d: session %llu keeps its former grant: %s", device->index,
                    (unsigned long long)t->id, text);
    snprintf(t->grant.refusal, sizeof(t->grant.refusal), "%.*s", (int)REFUSAL_TEXT_MAX - 1,
             text[0] ? text : "the worker cannot grant it");
    if (device->grant_retry.due_ns == 0)
        timer_set(&device->server->loop, &device->grant_retry, clock_ns() + RETRY_NS, retry_fire);
}

bool grants_granted(struct session *t, const struct link_granted *granted, const char *text)
{
    struct session_grant *g = &t->grant;
    struct device *device = t->device;
    bool freed;

    if ((t->state != SESSION_OPEN && t->state != SESSION_CLOSING) || !g->awaited ||
        granted->sequence != g->sent.sequence)
        return false;
    g->awaited = false;
    freed = g->applied.exclusive &&
            memcmp(g->applied.sm_mask, g->sent.sm_mask, sizeof(g->sent.sm_mask)) != 0;
    freed |= g->applied.exclusive && !g->sent.exclusive;
    if (granted->status == GS_OK) {
        g->applied = g->sent;
        server_session_limited(t);
    } else if (t->state == SESSION_OPEN && !g->outdated) {
        granted_refused(t, granted->status, text);
    }
    /* What others wait for, they get from the loop: many such messages come at once. */
    if (freed || device->blocked)
        grants_soon(device);
    if (t->state == SESSION_OPEN && grant_due(t))
        grants_pump(device);
    qos_requests_settle(device);
    return true;
}

void grants_opened(struct session *t)
{
    t->grant.applied = t->grant.sent;
    if (t->device->blocked)
        grants_soon(t->device);
    if (!grants_hold(t))
        grants_pump(t->device);
    qos_requests_settle(t->device);
}

void grants_forget(struct session *t)
{
    t->device->constrained -= t->grant.constrained;
    if (t->grant.constrained || t->device->blocked ||
        t->server->operator.count || t->server->settings.provision != CTL_PROVISION_EXACT)
        grants_soon(t->device);
    t->grant = (struct session_grant){.sequence = t->grant.sequence};
    t->share = 0;
}

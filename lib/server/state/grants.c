/* grants.c - see grants.h. */
#include "server/state/grants.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/status.h"
#include "common/util.h"
#include "server/state/server.h"
#include "server/state/session.h"

#define RETRY_NS 1000000000u

/* ---- Questions ------------------------------------------------------------------------------- */

static struct sm_mask mask_spelled(const struct device *device, const uint64_t word[])
{
    struct sm_mask mask = sm_mask_of(word);

    return sm_mask_empty(&mask) ? device->sms.all : mask;
}

struct sm_mask grants_sms(const struct session *s)
{
    if (s->state != SESSION_OPEN && s->state != SESSION_CLOSING)
        return (struct sm_mask){{0}};
    return mask_spelled(s->device, s->grant.applied.sm_mask);
}

static bool grants_any(const struct session *s)
{
    return s->state == SESSION_OPENING || s->state == SESSION_OPEN || s->state == SESSION_CLOSING;
}

/* Two grants may be in force: the one that the worker has confirmed, and the one on its way to the
 * worker. */
static bool applied_holds(const struct session *s)
{
    return grants_any(s) && s->state != SESSION_OPENING;
}

static bool sent_holds(const struct session *s)
{
    return grants_any(s) && (s->grant.awaited || s->state == SESSION_OPENING);
}

/* Returns the SMs of the applied and of the sent grant, of each only if its argument is true. */
static struct sm_mask held_of(const struct session *s, bool applied, bool sent)
{
    struct sm_mask held = {{0}};

    if (applied)
        held = mask_spelled(s->device, s->grant.applied.sm_mask);
    if (sent)
        held = sm_mask_or(held, mask_spelled(s->device, s->grant.sent.sm_mask));
    return held;
}

struct sm_mask grants_held(const struct session *s)
{
    return held_of(s, applied_holds(s), sent_holds(s));
}

struct sm_mask grants_held_alone(const struct session *s)
{
    return held_of(s, applied_holds(s) && s->grant.applied.exclusive,
                   sent_holds(s) && s->grant.sent.exclusive);
}

struct sm_mask grants_sure(const struct session *s)
{
    const struct session_grant *g = &s->grant;
    struct sm_mask sent = mask_spelled(s->device, g->sent.sm_mask),
                   applied = mask_spelled(s->device, g->applied.sm_mask);

    if (!grants_any(s))
        return (struct sm_mask){{0}};
    if (s->state == SESSION_OPENING)
        return sent;
    return g->awaited ? sm_mask_and(applied, sent) : applied;
}

bool grant_same(const struct link_grant *a, const struct link_grant *b)
{
    struct link_grant c = *b;

    c.sequence = a->sequence;
    return memcmp(a, &c, sizeof(c)) == 0;
}

bool grants_in_force(const struct session *s)
{
    return s->state == SESSION_OPEN && !s->grant.awaited &&
           grant_same(&s->grant.target, &s->grant.applied);
}

uint32_t grants_pending_count(const struct device *device)
{
    uint32_t count = 0;

    for (struct session *s = NULL; (s = device_session_next(device, s));) {
        if (s->state == SESSION_OPENING) /* the sent grant is in force from the first launch on */
            count += !grant_same(&s->grant.target, &s->grant.sent);
        else if (s->state == SESSION_OPEN)
            count += !grants_in_force(s);
    }
    return count;
}

bool grants_due(const struct session *s)
{
    if (s->state == SESSION_WAITING)
        return !sm_mask_empty(&s->grant.sms) && s->device->worker.state == WORKER_READY &&
               (s->resuming || !s->device->resuming); /* new sessions could take the addresses of
                                                         sessions that are still to be taken up */
    return s->state == SESSION_OPEN && !s->grant.awaited && !s->grant.refused &&
           !grant_same(&s->grant.target, &s->grant.applied);
}

struct sm_mask grants_alone(const struct device *device)
{
    struct sm_mask alone = {{0}};

    if (device->constrained == 0)
        return alone;
    for (const struct session *s = NULL; (s = device_session_next(device, s));)
        alone = sm_mask_or(alone, grants_held_alone(s));
    return alone;
}

const struct session *grants_blocker(const struct session *s, const struct sm_mask *alone)
{
    const struct sm_mask *sms = &s->grant.sms;

    if (!s->grant.target.exclusive && s->space == 0 && !sm_mask_meets(sms, alone))
        return NULL;
    for (const struct session *o = NULL; (o = device_session_next(s->device, o));) {
        bool all = s->grant.target.exclusive || s->space != o->space;
        struct sm_mask held;

        if (o == s)
            continue;
        held = all ? grants_held(o) : grants_held_alone(o);
        if (sm_mask_meets(sms, &held))
            return o;
    }
    return NULL;
}

void grants_load(const struct device *device, uint32_t *load, struct sm_mask *room)
{
    for (const struct session *s = NULL; (s = device_session_next(device, s));) {
        const struct session_grant *g = &s->grant;
        struct sm_mask alone;

        if (sm_mask_empty(&g->sms))
            continue;
        alone = grants_held_alone(s);
        if (g->target.exclusive)
            alone = sm_mask_or(alone, g->sms);
        *room = sm_mask_minus(*room, alone);
        for (uint32_t i = 0; g->constrained && i < device->sms.group_count; i++)
            load[i] += sm_mask_meets(&device->sms.group[i], &g->sms);
    }
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void retry_fire(struct timer *timer)
{
    struct device *device = container_of(timer, struct device, grant_retry);

    for (struct session *s = NULL; (s = device_session_next(device, s));)
        s->grant.refused = false;
    device_due(device, DUE_PLAN);
}

/* Notes the memory limit as the worker applies it: at most the device's memory, and at most the
 * session's range of addresses. */
static void limit_note(struct session *session)
{
    uint64_t limit = session->grant.applied.mem_limit, total = session->device->info.memory_total;

    if (limit == 0 || limit > total)
        limit = total;
    session->mem_limit = limit < session->window_size ? limit : session->window_size;
}

static void granted_refused(struct session *s, int32_t status, const char *text)
{
    struct device *device = s->device;

    s->grant.refusal_status = status_is_error(status) ? (gs_status)status : GS_ERR_PROTOCOL;
    s->grant.refused = true;
    if (strncmp(s->grant.refusal, text, sizeof(s->grant.refusal) - 1) != 0) /* logged once */
        log_warning("event=grant-kept device=%d session=%llu reason=%s", device->index,
                    (unsigned long long)s->id, text);
    snprintf(s->grant.refusal, sizeof(s->grant.refusal), "%.*s", (int)REFUSAL_TEXT_MAX - 1,
             text[0] ? text : "the worker cannot grant it");
    if (device->grant_retry.due_ns == 0)
        timer_set(&device->server->loop, &device->grant_retry, clock_ns() + RETRY_NS, retry_fire);
}

bool grants_granted(struct session *s, const struct link_granted *granted, const char *text)
{
    struct session_grant *g = &s->grant;
    struct device *device = s->device;
    bool freed;

    if ((s->state != SESSION_OPEN && s->state != SESSION_CLOSING) || !g->awaited ||
        granted->sequence != g->sent.sequence)
        return false;
    freed = g->applied.exclusive &&
            memcmp(g->applied.sm_mask, g->sent.sm_mask, sizeof(g->sent.sm_mask)) != 0;
    freed |= g->applied.exclusive && !g->sent.exclusive;
    if (granted->status == GS_OK) {
        g->applied = g->sent;
        limit_note(s);
    } else if (s->state == SESSION_OPEN && !g->outdated) {
        granted_refused(s, granted->status, text);
    }
    g->awaited = false;
    /* Sessions that wait for these SMs are planned in a round of its own, since many such messages
     * come at once. */
    if (freed || device->blocked)
        device_plan_soon(device);
    device_due(device, grants_due(s) ? DUE_SEND | DUE_SETTLE : DUE_SETTLE);
    return true;
}

void grants_opened(struct session *s)
{
    s->grant.applied = s->grant.sent;
    if (s->device->blocked)
        device_plan_soon(s->device);
    device_due(s->device, grants_in_force(s) ? DUE_SETTLE : DUE_SEND | DUE_SETTLE);
}

void grants_clear(struct session *s)
{
    s->device->constrained -= s->grant.constrained;
    if (s->grant.constrained || s->device->blocked || s->server->changes.count ||
        s->server->settings.provision != CTL_PROVISION_EXACT)
        device_plan_soon(s->device);
    s->grant = (struct session_grant){.sequence = s->grant.sequence};
}

void grants_ready(struct device *device)
{
    for (struct session *s = NULL; (s = device_session_next(device, s));) {
        if (s->state == SESSION_WAITING)
            grants_clear(s);
    }
    device->early = true;
    device_plan_soon(device);
}

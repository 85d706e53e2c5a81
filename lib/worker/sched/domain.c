/*
 * domain.c - scheduling domains. Sessions whose SMs overlap, directly or through other sessions,
 * wait for the device in one domain. Sessions that share no SMs need not wait for each other, and
 * are in different domains.
 *
 * A session counts with its granted SMs, whichever of them its launches use, and only while it may
 * have work: while it is polled, or has something in flight or held back. So an idle session makes
 * no others wait.
 *
 * While every session has the whole device, there is one domain and nothing to compute. Otherwise
 * the domains are computed anew before the next round whenever a session begins or ceases to have
 * work, or gets other SMs. A domain's virtual time never goes back, even when the domain is used
 * again, so that the time which an idle session owes (sched_entity.vtime) fades meanwhile. A
 * session that changes domains is as far ahead of the new domain's virtual time, or behind it, as
 * it was of the old one's.
 */
#include "worker/sched/domain.h"

#include <string.h>

#define NONE UINT32_MAX

/* A component: sessions whose SMs overlap, directly or through other sessions of the component. */
struct component {
    struct sm_mask mask; /* the SMs of all its sessions; empty: merged into another component */
    /* the index of the component that it was merged into; its own: not merged */
    uint32_t into;
    uint32_t domain;
    struct sched sched; /* the new state of the component's domain */
};

static struct {
    struct sched domain[DOMAINS_MAX + LANES_MAX]; /* the last LANES_MAX are those of the lanes */
    uint32_t used; /* the domains from this number up to DOMAINS_MAX are unused */
} domains = {.used = 1};

static struct {
    struct session *first; /* list of sessions that may have work, by domain.next */
    bool changed;
    /* when the domains were last computed, a session had less than the whole device */
    bool apart;
    uint32_t together; /* the domain of all sessions, if `apart` is false */
    bool weights_off;
} finder;

void domains_init(void)
{
    memset(&domains, 0, sizeof(domains));
    memset(&finder, 0, sizeof(finder));
    domains.used = 1;
}

uint32_t domains_used(void)
{
    return domains.used;
}

struct sched *domain_at(uint32_t number)
{
    return &domains.domain[number];
}

uint32_t domain_number(const struct session *session)
{
    return (uint32_t)(session->sched.domain.sched - domains.domain);
}

void domain_join(struct session *session)
{
    session->sched.domain.sched = &domains.domain[0];
}

void domains_add(struct session *session)
{
    if (session->sched.domain.entered)
        return;
    session->sched.domain.entered = true;
    session->sched.domain.next = finder.first;
    finder.first = session;
    if (finder.apart || session->grant.partition || domain_number(session) != finder.together)
        finder.changed = true;
}

void domains_idle(void)
{
    if (finder.apart)
        finder.changed = true;
}

void domains_moved(void)
{
    finder.changed = true;
}

void domains_remove(struct session *session)
{
    for (struct session **at = &finder.first; *at; at = &(*at)->sched.domain.next) {
        if (*at == session) {
            *at = session->sched.domain.next;
            session->sched.domain.entered = false;
            domains_idle();
            return;
        }
    }
}

/* While the session is between two lanes, its vtime is relative to the virtual time of its
 * domain. */
void domain_leave(struct session *session)
{
    sched_part(domain_of(session), &session->sched.entity);
    session->sched.entity.vtime -= domain_of(session)->vnow;
}

void domain_enter(struct session *session, uint32_t lane)
{
    session->sched.domain.sched = domain_at(lane ? DOMAINS_MAX + lane : finder.together);
    session->sched.entity.vtime += domain_of(session)->vnow;
    sched_add(domain_of(session), &session->sched.entity);
}

void domains_set_weights(bool on)
{
    finder.weights_off = !on;
    for (uint32_t i = 0; i < DOMAINS_MAX; i++)
        domains.domain[i].weights_off = !on;
}

/* ---- Finding them ---------------------------------------------------------------------------- */

static struct component components[DOMAINS_MAX];
static uint32_t component_count;
/* for each old domain, the component that its first session has joined */
static uint32_t component_of_domain[DOMAINS_MAX];

static uint32_t component_root(uint32_t component)
{
    while (components[component].into != component)
        component = components[component].into;
    return component;
}

static uint32_t component_new(void)
{
    if (component_count == DOMAINS_MAX)
        return component_root(0);
    components[component_count] = (struct component){.into = component_count, .domain = NONE};
    components[component_count].sched.weights_off = finder.weights_off;
    return component_count++;
}

/* Returns the component whose SMs overlap with `mask`, extended by `mask`. Merges several such
 * components into one; makes a new component if there is none. likely: the component to try
 * first. */
static uint32_t component_find(const struct sm_mask *mask, uint32_t likely)
{
    uint32_t found = NONE;

    if (likely != NONE && sm_mask_within(mask, &components[likely].mask))
        return likely;
    for (uint32_t i = 0; i < component_count; i++) {
        if (!sm_mask_meets(mask, &components[i].mask))
            continue;
        if (found == NONE) {
            found = i;
            continue;
        }
        components[found].mask = sm_mask_or(components[found].mask, components[i].mask);
        components[i].mask = (struct sm_mask){{0}};
        components[i].into = found;
    }
    if (found == NONE)
        found = component_new();
    components[found].mask = sm_mask_or(components[found].mask, *mask);
    return found;
}

/* Drops sessions without work from the list, and finds the components of the others. */
static void components_find(void)
{
    const struct sm_mask all = sm_mask_first(worker->info.sm_count);
    struct session **at = &finder.first, *session;

    finder.apart = false;
    component_count = 0;
    for (uint32_t i = 0; i < DOMAINS_MAX; i++)
        component_of_domain[i] = NONE;
    while ((session = *at)) {
        if (!session->sched.polled && !session->sched.entity.launches &&
            !session->sched.entity.waiting) {
            *at = session->sched.domain.next;
            session->sched.domain.entered = false;
            continue;
        }
        const struct sm_mask mask = session->grant.partition ? session->grant.mask : all;
        uint32_t *likely = &component_of_domain[domain_number(session)];
        session->sched.domain.component = component_find(&mask, *likely);
        if (*likely == NONE)
            *likely = session->sched.domain.component;
        finder.apart = finder.apart || session->grant.partition;
        at = &session->sched.domain.next;
    }
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Gives each component a domain: one that a session of it was in, unless another component has
 * taken that domain already; else an unused one. */
static void components_assign(void)
{
    bool taken[DOMAINS_MAX] = {false};

    for (struct session *session = finder.first; session; session = session->sched.domain.next) {
        uint32_t domain = domain_number(session);
        struct component *component = &components[component_root(session->sched.domain.component)];
        component->sched.vnow = later(component->sched.vnow, domains.domain[domain].vnow);
        component->sched.done_ns = later(component->sched.done_ns, domains.domain[domain].done_ns);
        if (component->domain == NONE && !taken[domain]) {
            component->domain = domain;
            taken[domain] = true;
        }
    }
    for (uint32_t i = 0, domain = 0; i < component_count; i++) {
        if (components[i].into != i || components[i].domain != NONE)
            continue;
        while (taken[domain])
            domain++;
        components[i].domain = domain;
        taken[domain] = true;
        components[i].sched.vnow = later(components[i].sched.vnow, domains.domain[domain].vnow);
    }
}

void domains_update(void)
{
    if (!finder.changed)
        return;
    finder.changed = false;
    components_find();
    components_assign();
    for (struct session *session = finder.first; session; session = session->sched.domain.next) {
        struct component *component = &components[component_root(session->sched.domain.component)];
        session->sched.entity.vtime += component->sched.vnow - domain_of(session)->vnow;
        session->sched.domain.sched = domain_at(component->domain);
        sched_add(&component->sched, &session->sched.entity);
    }
    /* Sessions that are in no component have nothing in flight, so the sums start from zero. */
    for (uint32_t i = 0; i < DOMAINS_MAX; i++)
        domains.domain[i] =
            (struct sched){.vnow = domains.domain[i].vnow, .weights_off = finder.weights_off};
    domains.used = 1;
    for (uint32_t i = 0; i < component_count; i++) {
        if (components[i].into != i)
            continue;
        components[i].sched.sms = sm_mask_count(&components[i].mask);
        components[i].sched.sms_all = worker->info.sm_count;
        domains.domain[components[i].domain] = components[i].sched;
        if (components[i].domain >= domains.used)
            domains.used = components[i].domain + 1;
    }
    finder.together = !finder.apart && component_count > 0 ? components[0].domain : 0;
}

/* registry.c - see registry.h. A cookie is 52 random bits and the slot in the low 12. */
#include "server/state/registry.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "server/state/session.h"

#define SLOT_BITS 12u
static_assert(LINK_SLOTS_MAX <= 1u << SLOT_BITS, "a slot fits into a cookie");

bool registry_init(struct registry *registry, uint32_t capacity, struct session *session)
{
    uint32_t free_count = 0;

    *registry = (struct registry){.session = session, .capacity = capacity, .own = !session};
    if (registry->own)
        registry->session = calloc(capacity, sizeof(*session));
    registry->free = calloc(capacity, sizeof(*registry->free));
    if (!registry->session || !registry->free) {
        registry_deinit(registry);
        return false;
    }
    for (uint32_t i = capacity; i-- > 0;) {
        if (registry->session[i].state == SESSION_FREE)
            registry->free[free_count++] = i;
    }
    registry->count = capacity - free_count;
    return true;
}

void registry_deinit(struct registry *registry)
{
    if (registry->own)
        free(registry->session);
    free(registry->free);
    *registry = (struct registry){0};
}

struct session *registry_take(struct registry *registry)
{
    struct session *session;
    uint64_t random;

    if (registry->count == registry->capacity ||
        getrandom(&random, sizeof(random), 0) != sizeof(random))
        return NULL;
    uint32_t slot = registry->free[registry->capacity - registry->count - 1];
    registry->count++;
    session = &registry->session[slot];
    memset(session, 0, sizeof(*session));
    session->slot = slot;
    session->cookie = random << SLOT_BITS | slot;
    session->state = SESSION_WAITING;
    session->process.fd = -1;
    session->journal = -1;
    session->reply.queue = -1;
    return session;
}

void registry_give(struct registry *registry, struct session *session)
{
    session->state = SESSION_FREE;
    registry->count--;
    registry->free[registry->capacity - registry->count - 1] = session->slot;
}

struct session *registry_by_slot(const struct registry *registry, uint32_t slot)
{
    if (slot >= registry->capacity || registry->session[slot].state == SESSION_FREE)
        return NULL;
    return &registry->session[slot];
}

struct session *registry_by_cookie(const struct registry *registry, uint64_t cookie)
{
    uint32_t slot = (uint32_t)(cookie & ((1u << SLOT_BITS) - 1));
    struct session *session = registry_by_slot(registry, slot);

    return session && session->cookie == cookie ? session : NULL;
}

struct session *registry_by_id(const struct registry *registry, uint64_t session_id)
{
    for (struct session *s = NULL; (s = registry_next(registry, s));) {
        if (s->id == session_id)
            return s;
    }
    return NULL;
}

struct session *registry_next(const struct registry *registry, const struct session *session)
{
    for (uint32_t i = session ? session->slot + 1 : 0; i < registry->capacity; i++) {
        if (registry->session[i].state != SESSION_FREE)
            return &registry->session[i];
    }
    return NULL;
}

uint32_t registry_page(const struct registry *registry, uint64_t first_id, struct session **page,
                       uint32_t room)
{
    uint32_t count = 0;

    for (struct session *s = NULL; (s = registry_next(registry, s));) {
        uint32_t at = count;

        if (s->id < first_id)
            continue;
        while (at > 0 && page[at - 1]->id > s->id)
            at--;
        if (at == room)
            continue;
        if (count < room)
            count++;
        memmove(page + at + 1, page + at, (count - 1 - at) * sizeof(*page));
        page[at] = s;
    }
    return count;
}

/* registry.c - see registry.h. A cookie is 52 random bits and the slot in the low 12. */
#include "server/registry.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "server/tenant.h"

#define SLOT_BITS 12u
static_assert(LINK_SLOTS_MAX <= 1u << SLOT_BITS, "a slot fits into a cookie");

bool registry_init(struct registry *registry, uint32_t capacity)
{
    *registry = (struct registry){0};
    registry->tenant = calloc(capacity, sizeof(*registry->tenant));
    registry->free = calloc(capacity, sizeof(*registry->free));
    if (!registry->tenant || !registry->free) {
        registry_deinit(registry);
        return false;
    }
    registry->capacity = capacity;
    for (uint32_t i = 0; i < capacity; i++)
        registry->free[i] = capacity - 1 - i;
    return true;
}

void registry_deinit(struct registry *registry)
{
    free(registry->tenant);
    free(registry->free);
    *registry = (struct registry){0};
}

struct tenant *registry_take(struct registry *registry)
{
    struct tenant *tenant;
    uint64_t random;

    if (registry->count == registry->capacity ||
        getrandom(&random, sizeof(random), 0) != sizeof(random))
        return NULL;
    uint32_t slot = registry->free[registry->capacity - registry->count - 1];
    registry->count++;
    tenant = &registry->tenant[slot];
    memset(tenant, 0, sizeof(*tenant));
    tenant->slot = slot;
    tenant->cookie = random << SLOT_BITS | slot;
    tenant->state = TENANT_WAITING;
    tenant->process.fd = -1;
    tenant->reply.queue = -1;
    return tenant;
}

void registry_give(struct registry *registry, struct tenant *tenant)
{
    tenant->state = TENANT_FREE;
    registry->count--;
    registry->free[registry->capacity - registry->count - 1] = tenant->slot;
}

struct tenant *registry_by_slot(const struct registry *registry, uint32_t slot)
{
    if (slot >= registry->capacity || registry->tenant[slot].state == TENANT_FREE)
        return NULL;
    return &registry->tenant[slot];
}

struct tenant *registry_by_cookie(const struct registry *registry, uint64_t cookie)
{
    uint32_t slot = (uint32_t)(cookie & ((1u << SLOT_BITS) - 1));
    struct tenant *tenant = registry_by_slot(registry, slot);

    return tenant && tenant->cookie == cookie ? tenant : NULL;
}

struct tenant *registry_by_id(const struct registry *registry, uint64_t session_id)
{
    for (struct tenant *t = NULL; (t = registry_next(registry, t));) {
        if (t->id == session_id)
            return t;
    }
    return NULL;
}

struct tenant *registry_next(const struct registry *registry, const struct tenant *tenant)
{
    for (uint32_t i = tenant ? tenant->slot + 1 : 0; i < registry->capacity; i++) {
        if (registry->tenant[i].state != TENANT_FREE)
            return &registry->tenant[i];
    }
    return NULL;
}

uint32_t registry_page(const struct registry *registry, uint64_t first_id, struct tenant **page,
                       uint32_t room)
{
    uint32_t count = 0;

    for (struct tenant *t = NULL; (t = registry_next(registry, t));) {
        uint32_t at = count;

        if (t->id < first_id)
            continue;
        while (at > 0 && page[at - 1]->id > t->id)
            at--;
        if (at == room)
            continue;
        if (count < room)
            count++;
        memmove(page + at + 1, page + at, (count - 1 - at) * sizeof(*page));
        page[at] = t;
    }
    return count;
}

/*
 * registry.h - the tenants' slots: a fixed array, found by slot or by cookie. Owns the memory of
 * the structs, not what they hold. No system call but getrandom; the supervisor's thread.
 */
#ifndef GS_SERVER_REGISTRY_H
#define GS_SERVER_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

struct tenant;

struct registry {
    struct tenant *tenant; /* capacity of them */
    uint32_t *free;        /* a stack of free slots */
    uint32_t capacity, count;
};

/* capacity: at most LINK_SLOTS_MAX. false: no memory. */
bool registry_init(struct registry *registry, uint32_t capacity);
void registry_deinit(struct registry *registry);
/* A zeroed tenant with slot and cookie set, or NULL: none is free, or no randomness. */
struct tenant *registry_take(struct registry *registry);
void registry_give(struct registry *registry, struct tenant *tenant);
/* NULL: no such tenant. Any number may be asked for. */
struct tenant *registry_by_slot(const struct registry *registry, uint32_t slot);
struct tenant *registry_by_cookie(const struct registry *registry, uint64_t cookie);
struct tenant *registry_by_id(const struct registry *registry, uint64_t session_id);
/* The next tenant in order of slots after `tenant`, or the first for NULL; NULL: no more. Giving
 * back the one that was returned last is allowed. */
struct tenant *registry_next(const struct registry *registry, const struct tenant *tenant);
/* Fills page with the tenants of the `room` smallest ids from first_id on, in that order, and
 * returns their number. */
uint32_t registry_page(const struct registry *registry, uint64_t first_id, struct tenant **page,
                       uint32_t room);

#endif

/*
 * registry.h - the sessions' slots: a fixed array, found by slot or by cookie. Owns the memory of
 * the structs, not what they hold. No system call but getrandom; the supervisor's thread.
 */
#ifndef GS_SERVER_REGISTRY_H
#define GS_SERVER_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

struct session;

struct registry {
    struct session *session; /* capacity of them */
    bool own;                /* their memory */
    uint32_t *free;          /* a stack of free slots */
    uint32_t capacity, count;
};

/* capacity: at most LINK_SLOTS_MAX. session: an array of `capacity`, all zero or of a former
 * registry, whose sessions this one then has; NULL: the registry makes one. false: no memory. */
bool registry_init(struct registry *registry, uint32_t capacity, struct session *session);
void registry_deinit(struct registry *registry);
/* Returns a zeroed session with slot and cookie set, or NULL: no slot is free, or there is no
 * randomness. */
struct session *registry_take(struct registry *registry);
void registry_give(struct registry *registry, struct session *session);
/* Each finds a session, or returns NULL. Any number may be asked for. */
struct session *registry_by_slot(const struct registry *registry, uint32_t slot);
struct session *registry_by_cookie(const struct registry *registry, uint64_t cookie);
struct session *registry_by_id(const struct registry *registry, uint64_t session_id);
/* The next session in order of slots after `session`, or the first for NULL; NULL: no more. Giving
 * back the one that was returned last is allowed. */
struct session *registry_next(const struct registry *registry, const struct session *session);
/* Fills page with the sessions of the `room` smallest ids from first_id on, in that order, and
 * returns their number. */
uint32_t registry_page(const struct registry *registry, uint64_t first_id, struct session **page,
                       uint32_t room);

#endif

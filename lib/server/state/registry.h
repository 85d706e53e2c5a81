/*
 * registry.h - the table of sessions: a fixed array of slots, searched by slot, cookie or id. Owns
 * the memory of the structs, but not what they point to. No system call but getrandom; the
 * supervisor's thread.
 */
#ifndef GS_SERVER_REGISTRY_H
#define GS_SERVER_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct session;

struct registry {
    struct session *session; /* an array of `capacity` */
    bool own;                /* the registry owns that array */
    uint32_t *free;          /* a stack of free slots */
    uint32_t capacity, count;
};

/* `capacity` is at most LINK_SLOTS_MAX. `session` is an array of `capacity`, all zero or a former
 * registry's, whose sessions this one takes over; NULL: the registry allocates one. Returns false
 * if there is no memory. */
bool registry_init(struct registry *registry, uint32_t capacity, struct session *session);
void registry_deinit(struct registry *registry);
/* Returns a zeroed session with slot and cookie set, or NULL: no slot is free, or there is no
 * randomness. */
struct session *registry_take(struct registry *registry);
void registry_give(struct registry *registry, struct session *session);
/* Each finds a session, or returns NULL. Any argument is allowed. */
struct session *registry_by_slot(const struct registry *registry, uint32_t slot);
struct session *registry_by_cookie(const struct registry *registry, uint64_t cookie);
struct session *registry_by_id(const struct registry *registry, uint64_t session_id);
/* Returns the session in the next used slot after `session`, the first one for NULL, or NULL at the
 * end. The caller may give back the session that was returned last. */
struct session *registry_next(const struct registry *registry, const struct session *session);
/* Fills `page` with the sessions of the `room` smallest ids from first_id on, in the order of ids,
 * and returns their number. `of`: only that user's sessions; NULL: all. */
uint32_t registry_page(const struct registry *registry, uint64_t first_id, const uid_t *of,
                       struct session **page, uint32_t room);

#endif

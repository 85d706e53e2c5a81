/*
 * user.h - users: counts what the sessions of each user hold together: physical memory, host
 * memory, and driver memory (driver_memory.h). Any thread: the table has a lock of its own, the
 * sums are atomic. Each lane also keeps here what it has given to the user in a scheduling round
 * (loop/user_round.c).
 */
#ifndef GS_WORKER_MEMORY_USER_H
#define GS_WORKER_MEMORY_USER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"
#include "worker/memory/sink.h"

/* What one lane has given to the user's sessions in a scheduling round, for records or for
 * requests. Only that lane reads and writes it. */
struct user_round {
    _Alignas(64) uint64_t round; /* the last round in which one of the sessions had any */
    uint64_t ns;                 /* how long the lane has served the user in that round */
    uint64_t pass;               /* counts the passes over the user's sessions */
    bool more;                   /* the pass is not complete */
};

struct user {
    struct user *next;
    uint32_t uid;
    uint32_t sessions, deferred; /* holders of the record; under the table's lock */
    _Atomic uint64_t used;
    struct user_sinks sinks; /* sinks are charged to nobody */
    _Atomic uint64_t
        opened; /* bytes of fenced open parts, beyond what all have at first (open_part.c) */
    _Atomic uint64_t hosts, host_bytes;              /* host blocks and their bytes */
    _Atomic uint64_t deferred_hosts, deferred_bytes; /* freed ones that are still registered */
    _Atomic uint64_t driver_bytes;                   /* see driver_memory.h */
    /* textures and surfaces, until the driver has destroyed them */
    _Atomic uint64_t textures;
    uint64_t lingering; /* the part of `used` from user_linger; under the table's lock */
    struct user_round round[LINK_LANES_MAX]; /* for records */
    struct user_round requests;              /* for requests, which only the main lane serves */
};

/* Limits on host memory, in bytes; 0: none. */
struct host_limits {
    uint64_t user; /* for the user's sessions, freed blocks that are still registered excluded */
    /* For the sessions of all users, such blocks included. Unless `granted`, a user may have no
     * more of it than is left for all afterwards: a user who has much is refused before one who has
     * little, and some is always left for a user who has nothing. */
    uint64_t all;
    bool granted; /* this user may have more than is left for all */
};

/* Counts one more session of this user and returns the user's record, which is made where there is
 * none. NULL: no memory. */
struct user *user_hold(uint32_t uid);
/* Counts one session less. The record is freed with the last session, unless something else keeps
 * it. NULL is fine. */
void user_release(struct user *user);
/* Count one deferred release more or less (deferred_release.h) that discharges the user in the end
 * and keeps the record until then. The user's sinks, though, are freed with the last session, on
 * the thread that closes it: freeing their memory takes too long for a quiet moment. */
void user_defer(struct user *user);
void user_defer_end(struct user *user);
/* Returns whether there are records of more than one user. */
bool users_several(void);

/* Charges the user for `bytes` of device memory. False: the sum would exceed the limit (0: none).
 */
bool user_charge(struct user *user, uint64_t bytes, uint64_t limit);
void user_discharge(struct user *user, uint64_t bytes);
/* Sets the bytes of this device's memory that sessions on other devices still hold for the user,
 * and charges the user for the difference to the last call. The record is kept while there are any.
 * Without memory for the record they are not counted. */
void user_linger(uint32_t uid, uint64_t bytes);
/* Charge the user for one host block, and for its bytes, which also count for all users together.
 * False: a limit would be exceeded. */
bool user_host_charge(struct user *user, uint64_t limit);
bool user_host_bytes_charge(struct user *user, uint64_t bytes, const struct host_limits *limits);
void user_host_bytes_discharge(struct user *user, uint64_t bytes);
/* Discharges one block and its bytes. */
void user_host_discharge(struct user *user, uint64_t bytes);
/* Turn such a block into a freed one that is still registered, and discharge it once it is
 * unregistered. */
void user_host_defer(struct user *user, uint64_t bytes);
void user_host_defer_end(struct user *user, uint64_t bytes);
/* Returns whether the user's freed blocks that are still registered, together with a block of
 * `bytes`, are within the limits on number and bytes of blocks (0: no limit). */
bool user_host_deferred_within(const struct user *user, uint64_t bytes, uint64_t hosts_limit,
                               uint64_t bytes_limit);
uint64_t user_host_bytes(const struct user *user);
/* Return whether `bytes` more are within the user's limit, and within that of all users. */
bool user_host_bytes_fit(const struct user *user, uint64_t bytes, const struct host_limits *limits);
bool users_host_bytes_fit(const struct user *user, uint64_t bytes,
                          const struct host_limits *limits);
/* Returns the bytes of host memory of all users, freed blocks that are still registered included.
 */
uint64_t users_host_bytes(void);
/* Driver memory (driver_memory.h) of the user: as user_charge. */
bool user_driver_charge(struct user *user, uint64_t bytes, uint64_t limit);
void user_driver_discharge(struct user *user, uint64_t bytes);
uint64_t user_driver_bytes(const struct user *user);
uint64_t user_used(const struct user *user);
/* Addresses of open parts that sinks are to cover: as user_charge. */
bool user_opened_charge(struct user *user, uint64_t bytes, uint64_t limit);
void user_opened_discharge(struct user *user, uint64_t bytes);
/* Textures and surfaces, one at a time: as user_charge. */
bool user_texture_charge(struct user *user, uint64_t limit);
void user_texture_discharge(struct user *user);

#endif

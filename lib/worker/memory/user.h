/*
 * user.h - counts what each user's sessions hold together: physical memory, host memory, and device
 * memory that the driver takes. Any thread: the table has a lock of its own, the sums are atomic.
 * The lanes keep in it what each gives to the user (loop/user_round.c).
 */
#ifndef GS_WORKER_MEMORY_USER_H
#define GS_WORKER_MEMORY_USER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"
#include "worker/memory/sink.h"

/* What a lane has given to the user's sessions of records, or of requests; only that lane reads and
 * writes it. */
struct user_round {
    _Alignas(64) uint64_t round; /* the lane's last one in which a session had any */
    uint64_t ns;                 /* how long the lane has served the user in that round */
    uint64_t pass;               /* counts passes over the user's sessions */
    bool more;                   /* the pass is not over */
};

struct user {
    struct user *next;
    uint32_t uid;
    uint32_t sessions, deferred; /* that hold the record; under the table's lock */
    _Atomic uint64_t used;
    struct user_sinks sinks; /* sinks are charged to nobody */
    _Atomic uint64_t
        opened; /* of its fenced sessions' windows, beyond what all have (open_part.c) */
    _Atomic uint64_t hosts, host_bytes;              /* host blocks */
    _Atomic uint64_t deferred_hosts, deferred_bytes; /* freed ones, which the driver has still */
    _Atomic uint64_t driver_bytes;                   /* see driver_memory.h */
    _Atomic uint64_t textures; /* and surfaces, until the driver has let go of them */
    uint64_t lingering;        /* part of `used`: see user_linger; under the table's lock */
    struct user_round round[LINK_LANES_MAX]; /* of records */
    struct user_round requests;              /* of requests, which the main lane alone takes */
};

/* Limits on host memory, in bytes; 0: none. */
struct host_limits {
    uint64_t user; /* of one user's sessions, without freed blocks that the driver has still */
    /* Of all users' sessions, with such blocks. A user may have no more of it than is left for all
     * afterwards: who has much stops before who has little, and for who has nothing there is always
     * some. */
    uint64_t all;
    bool granted; /* this user may have more than is left */
};

/* Counts one more session of this user. NULL: no memory. */
struct user *user_hold(uint32_t uid);
/* Counts one session less; the user's record goes with the last one, if nothing else keeps it.
 * NULL is fine. */
void user_release(struct user *user);
/* Counts one deferred release more, or one less, that discharges the user in the end
 * (deferred_release.h). The record stays with them, but the sinks go with the last session, on the
 * thread that closes it: giving their memory up takes too long for a quiet moment. */
void user_defer(struct user *user);
void user_defer_end(struct user *user);
/* Whether there are records of more than one user. */
bool users_several(void);

/* Charges the user for `bytes`, unless the sum would exceed the limit (0: none). */
bool user_charge(struct user *user, uint64_t bytes, uint64_t limit);
void user_discharge(struct user *user, uint64_t bytes);
/* Charges the user for `bytes` of this device's memory that other devices still have, instead of
 * the bytes of the last call. The user's record stays while there are any. Without memory for the
 * record the bytes do not count. */
void user_linger(uint32_t uid, uint64_t bytes);
/* The same for one host block, and for its bytes, which count for all users too. */
bool user_host_charge(struct user *user, uint64_t limit);
bool user_host_bytes_charge(struct user *user, uint64_t bytes, const struct host_limits *limits);
void user_host_bytes_discharge(struct user *user, uint64_t bytes);
/* Discharges a block that was charged by both. */
void user_host_discharge(struct user *user, uint64_t bytes);
/* Discharges such a block, of which the driver has not let go yet; and tells that it has. */
void user_host_defer(struct user *user, uint64_t bytes);
void user_host_defer_end(struct user *user, uint64_t bytes);
/* Whether the blocks of which the driver has not let go are within the limits on blocks, together
 * with one of so many bytes (0: no limit). */
bool user_host_deferred_within(const struct user *user, uint64_t bytes, uint64_t hosts_limit,
                               uint64_t bytes_limit);
uint64_t user_host_bytes(const struct user *user);
/* Whether so many bytes more are within the limit of the user, and within that of all users. */
bool user_host_bytes_fit(const struct user *user, uint64_t bytes, const struct host_limits *limits);
bool users_host_bytes_fit(const struct user *user, uint64_t bytes,
                          const struct host_limits *limits);
/* The bytes of host memory of all users, with freed blocks that the driver has still. */
uint64_t users_host_bytes(void);
/* The same of device memory that the driver takes (driver_memory.h). */
bool user_driver_charge(struct user *user, uint64_t bytes, uint64_t limit);
void user_driver_discharge(struct user *user, uint64_t bytes);
uint64_t user_driver_bytes(const struct user *user);
uint64_t user_used(const struct user *user);
/* The same of addresses of windows that sinks are to cover. */
bool user_opened_charge(struct user *user, uint64_t bytes, uint64_t limit);
void user_opened_discharge(struct user *user, uint64_t bytes);
/* The same of textures and surfaces, one at a time. */
bool user_texture_charge(struct user *user, uint64_t limit);
void user_texture_discharge(struct user *user);

#endif

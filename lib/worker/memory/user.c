/* user.c - see user.h. */
#include "worker/memory/user.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    struct user *first;
    _Atomic uint32_t count;
    _Atomic uint64_t host_bytes; /* sum of all users' host_bytes and deferred_bytes */
} users = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The caller holds the lock. */
static struct user *user_find(uint32_t uid)
{
    struct user *user = users.first;

    while (user && user->uid != uid)
        user = user->next;
    return user;
}

static struct user *user_new(uint32_t uid)
{
    struct user *user = aligned_alloc(alignof(struct user), sizeof(*user));

    if (!user)
        return NULL;
    memset(user, 0, sizeof(*user));
    atomic_fetch_add_explicit(&users.count, 1, memory_order_relaxed);
    user->uid = uid;
    user->next = users.first;
    users.first = user;
    return user;
}

/* The caller holds the lock. */
static void user_free_unused(struct user *user)
{
    struct user **at = &users.first;

    if (user->sessions || user->deferred || user->lingering)
        return;
    while (*at != user)
        at = &(*at)->next;
    *at = user->next;
    atomic_fetch_sub_explicit(&users.count, 1, memory_order_relaxed);
    free(user);
}

struct user *user_hold(uint32_t uid)
{
    struct user *user;

    pthread_mutex_lock(&users.lock);
    user = user_find(uid);
    if (!user)
        user = user_new(uid);
    if (user)
        user->sessions++;
    pthread_mutex_unlock(&users.lock);
    return user;
}

void user_release(struct user *user)
{
    struct user_sinks sinks = {0};

    if (!user)
        return;
    pthread_mutex_lock(&users.lock);
    if (--user->sessions == 0) {
        sinks = user->sinks;
        user->sinks = (struct user_sinks){0};
    }
    user_free_unused(user);
    pthread_mutex_unlock(&users.lock);
    user_sinks_free(&sinks); /* without the lock, for which lanes may wait: the driver is slow */
}

void user_defer(struct user *user)
{
    pthread_mutex_lock(&users.lock);
    user->deferred++;
    pthread_mutex_unlock(&users.lock);
}

void user_defer_end(struct user *user)
{
    pthread_mutex_lock(&users.lock);
    user->deferred--;
    user_free_unused(user);
    pthread_mutex_unlock(&users.lock);
}

void user_linger(uint32_t uid, uint64_t bytes)
{
    struct user *user;

    pthread_mutex_lock(&users.lock);
    user = user_find(uid);
    if (!user && bytes)
        user = user_new(uid);
    if (user) {
        /* Relaxed, as for all sums: what is subtracted was added before. */
        atomic_fetch_add_explicit(&user->used, bytes - user->lingering, memory_order_relaxed);
        user->lingering = bytes;
        user_free_unused(user);
    }
    pthread_mutex_unlock(&users.lock);
}

/* Relaxed: it does no harm if a lane learns of another user a round later. */
bool users_several(void)
{
    return atomic_load_explicit(&users.count, memory_order_relaxed) > 1;
}

/* Adds `bytes` to the sum. False: it would exceed the limit (0: none). Relaxed throughout: no other
 * memory depends on a sum. */
static bool sum_charge(_Atomic uint64_t *sum, uint64_t bytes, uint64_t limit)
{
    uint64_t used = atomic_load_explicit(sum, memory_order_relaxed);

    do {
        if (limit && (used > limit || bytes > limit - used))
            return false;
    } while (!atomic_compare_exchange_weak_explicit(sum, &used, used + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

bool user_charge(struct user *user, uint64_t bytes, uint64_t limit)
{
    return sum_charge(&user->used, bytes, limit);
}

bool user_host_charge(struct user *user, uint64_t limit)
{
    return sum_charge(&user->hosts, 1, limit);
}

/* Returns the user's bytes of host blocks, freed ones that are still registered included. */
static uint64_t host_bytes_all(const struct user *user)
{
    return atomic_load_explicit(&user->host_bytes, memory_order_relaxed) +
           atomic_load_explicit(&user->deferred_bytes, memory_order_relaxed);
}

/* Returns how many bytes all users may have together, if this user has `own` bytes of these. */
static uint64_t all_most(uint64_t own, const struct host_limits *limits)
{
    if (limits->granted)
        return limits->all;
    return own < limits->all ? limits->all - own : 0;
}

bool user_host_bytes_charge(struct user *user, uint64_t bytes, const struct host_limits *limits)
{
    uint64_t most;

    if (!sum_charge(&user->host_bytes, bytes, limits->user))
        return false;
    most = all_most(host_bytes_all(user), limits);
    if ((!limits->all || most) && sum_charge(&users.host_bytes, bytes, most))
        return true;
    atomic_fetch_sub_explicit(&user->host_bytes, bytes, memory_order_relaxed);
    return false;
}

void user_host_bytes_discharge(struct user *user, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&user->host_bytes, bytes, memory_order_relaxed);
    atomic_fetch_sub_explicit(&users.host_bytes, bytes, memory_order_relaxed);
}

bool user_host_bytes_fit(const struct user *user, uint64_t bytes, const struct host_limits *limits)
{
    return !limits->user || user_host_bytes(user) + bytes <= limits->user;
}

bool users_host_bytes_fit(const struct user *user, uint64_t bytes, const struct host_limits *limits)
{
    return !limits->all ||
           users_host_bytes() + bytes <= all_most(host_bytes_all(user) + bytes, limits);
}

uint64_t users_host_bytes(void)
{
    return atomic_load_explicit(&users.host_bytes, memory_order_relaxed);
}

void user_host_discharge(struct user *user, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&user->hosts, 1, memory_order_relaxed);
    user_host_bytes_discharge(user, bytes);
}

void user_host_defer(struct user *user, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&user->hosts, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&user->host_bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&user->deferred_hosts, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&user->deferred_bytes, bytes, memory_order_relaxed);
}

void user_host_defer_end(struct user *user, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&user->deferred_hosts, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&user->deferred_bytes, bytes, memory_order_relaxed);
    atomic_fetch_sub_explicit(&users.host_bytes, bytes, memory_order_relaxed);
}

bool user_host_deferred_within(const struct user *user, uint64_t bytes, uint64_t hosts_limit,
                               uint64_t bytes_limit)
{
    const uint64_t hosts = atomic_load_explicit(&user->deferred_hosts, memory_order_relaxed);
    const uint64_t used = atomic_load_explicit(&user->deferred_bytes, memory_order_relaxed);

    return !hosts ||
           ((!hosts_limit || hosts < hosts_limit) && (!bytes_limit || used + bytes <= bytes_limit));
}

uint64_t user_host_bytes(const struct user *user)
{
    return atomic_load_explicit(&user->host_bytes, memory_order_relaxed);
}

bool user_driver_charge(struct user *user, uint64_t bytes, uint64_t limit)
{
    return sum_charge(&user->driver_bytes, bytes, limit);
}

void user_driver_discharge(struct user *user, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&user->driver_bytes, bytes, memory_order_relaxed);
}

uint64_t user_driver_bytes(const struct user *user)
{
    return atomic_load_explicit(&user->driver_bytes, memory_order_relaxed);
}

void user_discharge(struct user *user, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&user->used, bytes, memory_order_relaxed);
}

uint64_t user_used(const struct user *user)
{
    return atomic_load_explicit(&user->used, memory_order_relaxed);
}

bool user_opened_charge(struct user *user, uint64_t bytes, uint64_t limit)
{
    return sum_charge(&user->opened, bytes, limit);
}

void user_opened_discharge(struct user *user, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&user->opened, bytes, memory_order_relaxed);
}

bool user_texture_charge(struct user *user, uint64_t limit)
{
    return sum_charge(&user->textures, 1, limit);
}

void user_texture_discharge(struct user *user)
{
    atomic_fetch_sub_explicit(&user->textures, 1, memory_order_relaxed);
}

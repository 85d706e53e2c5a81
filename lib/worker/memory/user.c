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
} users = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct user *user_hold(uint32_t uid)
{
    struct user *user;

    pthread_mutex_lock(&users.lock);
    for (user = users.first; user && user->uid != uid;)
        user = user->next;
    if (!user) {
        user = aligned_alloc(alignof(struct user), sizeof(*user));
        if (user) {
            memset(user, 0, sizeof(*user));
            atomic_fetch_add_explicit(&users.count, 1, memory_order_relaxed);
            user->uid = uid;
            user->next = users.first;
            users.first = user;
        }
    }
    if (user)
        user->sessions++;
    pthread_mutex_unlock(&users.lock);
    return user;
}

void user_release(struct user *user)
{
    struct user **at = &users.first;

    if (!user)
        return;
    pthread_mutex_lock(&users.lock);
    if (--user->sessions == 0) {
        while (*at != user)
            at = &(*at)->next;
        *at = user->next;
        atomic_fetch_sub_explicit(&users.count, 1, memory_order_relaxed);
        user_sinks_free(&user->sinks);
        free(user);
    }
    pthread_mutex_unlock(&users.lock);
}

/* relaxed: a lane that learns of another user a round later does no harm */
bool users_several(void)
{
    return atomic_load_explicit(&users.count, memory_order_relaxed) > 1;
}

/* Relaxed throughout: no other memory depends on the sum. */
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

bool user_host_bytes_charge(struct user *user, uint64_t bytes, uint64_t limit)
{
    return sum_charge(&user->host_bytes, bytes, limit);
}

void user_host_bytes_discharge(struct user *user, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&user->host_bytes, bytes, memory_order_relaxed);
}

void user_host_discharge(struct user *user, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&user->hosts, 1, memory_order_relaxed);
    user_host_bytes_discharge(user, bytes);
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

bool user_texture_charge(struct user *user, uint64_t limit)
{
    return sum_charge(&user->textures, 1, limit);
}

void user_texture_discharge(struct user *user)
{
    atomic_fetch_sub_explicit(&user->textures, 1, memory_order_relaxed);
}

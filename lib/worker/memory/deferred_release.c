/*
 * deferred_release.c - deferred release of host memory that no tenant uses any more but that the
 * driver still has registered.
 *
 * Measured: cuMemHostUnregister waits for every kernel on the device, and other threads' launches
 * wait with it. So such memory waits here until the main lane sees a quiet moment, or until too
 * much of it waits.
 */
#include "worker/memory/deferred_release.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/shm.h>

#include "worker/session_parts.h"

#define DEFERRED_MAX 256u
#define BYTES_MAX    (UINT64_C(1) << 30)

struct deferred {
    struct deferred *next;
    void *mapping, *registered;
    uint64_t size;
};

static struct {
    pthread_mutex_t lock; /* protects first; service threads and the control thread */
    struct deferred *first;
    _Atomic uint32_t count;
    _Atomic uint64_t bytes;
} deferred_list = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void release(void *mapping, void *registered)
{
    if (registered)
        DRV_MUST(cuMemHostUnregister, registered);
    shmdt(mapping);
}

void deferred_release_add(void *mapping, void *registered, uint64_t size)
{
    struct deferred *deferred = registered ? malloc(sizeof(*deferred)) : NULL;

    if (!deferred) {
        release(mapping, registered);
        return;
    }
    *deferred = (struct deferred){NULL, mapping, registered, size};
    pthread_mutex_lock(&deferred_list.lock);
    deferred->next = deferred_list.first;
    deferred_list.first = deferred;
    /* seq_cst: before the look at whether the main lane sleeps; pairs with waker_doze */
    atomic_fetch_add(&deferred_list.count, 1);
    atomic_fetch_add_explicit(&deferred_list.bytes, size, memory_order_relaxed);
    pthread_mutex_unlock(&deferred_list.lock);
}

bool deferred_release_any(void)
{
    return atomic_load(&deferred_list.count) > 0; /* seq_cst: see deferred_release_add */
}

bool deferred_release_full(void)
{
    return atomic_load_explicit(&deferred_list.count, memory_order_relaxed) > DEFERRED_MAX ||
           atomic_load_explicit(&deferred_list.bytes, memory_order_relaxed) > BYTES_MAX;
}

void deferred_release_run(void)
{
    pthread_mutex_lock(&deferred_list.lock);
    struct deferred *deferred = deferred_list.first;
    deferred_list.first = NULL;
    atomic_store_explicit(&deferred_list.count, 0, memory_order_relaxed);
    atomic_store_explicit(&deferred_list.bytes, 0, memory_order_relaxed);
    pthread_mutex_unlock(&deferred_list.lock);
    while (deferred) {
        struct deferred *next = deferred->next;
        release(deferred->mapping, deferred->registered);
        free(deferred);
        deferred = next;
    }
}

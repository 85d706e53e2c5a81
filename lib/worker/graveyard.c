/*
 * graveyard.c - host memory that nobody uses any more but that the driver still has registered.
 *
 * Measured: cuMemHostUnregister waits for every kernel on the device, and other threads' launches
 * wait with it. So what is to be unregistered is kept here until the dispatcher sees a quiet
 * moment, or until there is too much of it.
 */
#include "worker/graveyard.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/shm.h>

#include "worker/worker.h"

#define GRAVES_MAX 256u
#define BYTES_MAX  (UINT64_C(1) << 30)

struct grave {
    struct grave *next;
    void *mapping, *registered;
    uint64_t size;
};

static struct {
    pthread_mutex_t lock; /* of first; service threads only */
    struct grave *first;
    _Atomic uint32_t count;
    _Atomic uint64_t bytes;
} yard = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void bury(void *mapping, void *registered)
{
    if (registered)
        DRV_MUST(cuMemHostUnregister, registered);
    shmdt(mapping);
}

void grave_dig(void *mapping, void *registered, uint64_t size)
{
    struct grave *grave = registered ? malloc(sizeof(*grave)) : NULL;

    if (!grave) {
        bury(mapping, registered);
        return;
    }
    *grave = (struct grave){NULL, mapping, registered, size};
    pthread_mutex_lock(&yard.lock);
    grave->next = yard.first;
    yard.first = grave;
    atomic_fetch_add_explicit(&yard.count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&yard.bytes, size, memory_order_relaxed);
    pthread_mutex_unlock(&yard.lock);
}

bool graves_any(void)
{
    return atomic_load_explicit(&yard.count, memory_order_relaxed) > 0;
}

bool graves_full(void)
{
    return atomic_load_explicit(&yard.count, memory_order_relaxed) > GRAVES_MAX ||
           atomic_load_explicit(&yard.bytes, memory_order_relaxed) > BYTES_MAX;
}

void graves_clear(void)
{
    pthread_mutex_lock(&yard.lock);
    struct grave *grave = yard.first;
    yard.first = NULL;
    atomic_store_explicit(&yard.count, 0, memory_order_relaxed);
    atomic_store_explicit(&yard.bytes, 0, memory_order_relaxed);
    pthread_mutex_unlock(&yard.lock);
    while (grave) {
        struct grave *next = grave->next;
        bury(grave->mapping, grave->registered);
        free(grave);
        grave = next;
    }
}

/*
 * deferred_release.c - deferred release of what no tenant uses any more: host memory that the
 * driver still has registered, and arrays.
 *
 * Measured: cuMemHostUnregister waits for every kernel on the device, and other threads' launches
 * wait with it; cuArrayDestroy frees memory as cuMemFree does, which waits too. So such memory
 * waits here until the main lane sees a quiet moment, or until too much of it waits.
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
    CUarray array; /* NULL: it is host memory */
    uint64_t size;
};

static struct {
    pthread_mutex_t lock; /* protects first; service threads and the control thread */
    struct deferred *first;
    _Atomic uint32_t count;
    _Atomic uint64_t bytes;
} deferred_list = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void release(const struct deferred *deferred)
{
    if (deferred->array)
        DRV_MUST(cuArrayDestroy, deferred->array);
    if (deferred->registered)
        DRV_MUST(cuMemHostUnregister, deferred->registered);
    if (deferred->mapping)
        shmdt(deferred->mapping);
}

static void defer(const struct deferred *what)
{
    struct deferred *deferred = malloc(sizeof(*deferred));

    if (!deferred) {
        release(what);
        return;
    }
    *deferred = *what;
    pthread_mutex_lock(&deferred_list.lock);
    deferred->next = deferred_list.first;
    deferred_list.first = deferred;
    /* seq_cst: before the look at whether the main lane sleeps; pairs with waker_doze */
    atomic_fetch_add(&deferred_list.count, 1);
    atomic_fetch_add_explicit(&deferred_list.bytes, what->size, memory_order_relaxed);
    pthread_mutex_unlock(&deferred_list.lock);
}

void deferred_release_add(void *mapping, void *registered, uint64_t size)
{
    const struct deferred what = {.mapping = mapping, .registered = registered, .size = size};

    if (registered)
        defer(&what);
    else
        release(&what);
}

void deferred_release_array(CUarray array, uint64_t size)
{
    const struct deferred what = {.array = array, .size = size};

    defer(&what);
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

/* Held while a thread releases. */
static pthread_mutex_t releasing = PTHREAD_MUTEX_INITIALIZER;

void deferred_release_run(void)
{
    pthread_mutex_lock(&releasing);
    pthread_mutex_lock(&deferred_list.lock);
    struct deferred *deferred = deferred_list.first;
    deferred_list.first = NULL;
    atomic_store_explicit(&deferred_list.count, 0, memory_order_relaxed);
    atomic_store_explicit(&deferred_list.bytes, 0, memory_order_relaxed);
    pthread_mutex_unlock(&deferred_list.lock);
    while (deferred) {
        struct deferred *next = deferred->next;
        release(deferred);
        free(deferred);
        deferred = next;
    }
    pthread_mutex_unlock(&releasing);
}

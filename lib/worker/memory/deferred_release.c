/*
 * deferred_release.c - deferred release of objects that no tenant uses any more: host memory that
 * is still registered with the driver, arrays, textures, and windows that such host memory lies in.
 *
 * Measured: cuMemHostUnregister waits for every kernel on the device, and other threads' launches
 * wait with it; cuArrayDestroy frees memory as cuMemFree does, which waits too. So these objects
 * wait in a list until the main lane sees a quiet moment, or makes one because the list is too
 * long.
 */
#include "worker/memory/deferred_release.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/shm.h>

#include "common/util.h"
#include "worker/memory/host_place.h"
#include "worker/memory/region.h"
#include "worker/memory/user.h"
#include "worker/session_parts.h"

#define DEFERRED_MAX 256u                /* with more items, the main lane makes a quiet moment */
#define BYTES_MAX    (UINT64_C(1) << 30) /* the same for their bytes */
/* The time for releases in one quiet moment. It is a time and no number, because a tenant could
 * make textures faster than a fixed number in each moment would release them. */
#define RELEASE_NS   2000000u

struct deferred {
    struct deferred *next;
    void *mapping, *registered;
    uint64_t room;           /* size of the place at which `registered` lies; 0: no place */
    CUdeviceptr window_base; /* a window's addresses to be freed; window_size 0: none */
    uint64_t window_size;
    CUarray array;
    CUmipmappedArray mipmap;
    CUtexObject texture;
    CUsurfObject surface;
    uint64_t size;
    struct deferred_end end;
};

static struct {
    pthread_mutex_t lock; /* protects first and last; service threads and the control thread */
    struct deferred *first, *last;
    _Atomic uint32_t count;
    _Atomic uint64_t bytes;
} deferred_list = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Releases all that is set in the item. */
static void release(const struct deferred *deferred)
{
    if (deferred->texture)
        DRV_MUST(cuTexObjectDestroy, deferred->texture);
    if (deferred->surface)
        DRV_MUST(cuSurfObjectDestroy, deferred->surface);
    if (deferred->array)
        DRV_MUST(cuArrayDestroy, deferred->array);
    if (deferred->mipmap)
        DRV_MUST(cuMipmappedArrayDestroy, deferred->mipmap);
    if (deferred->registered)
        DRV_MUST(cuMemHostUnregister, deferred->registered);
    if (deferred->room)
        host_place_detach(deferred->registered, deferred->room);
    if (deferred->mapping)
        shmdt(deferred->mapping);
    if (deferred->window_size) {
        DRV_MUST(cuMemAddressFree, deferred->window_base, deferred->window_size);
        region_give(deferred->window_base);
    }
    if (deferred->end.gone)
        deferred->end.gone(deferred->end.user, deferred->size);
}

/* Appends a copy of the item to the list; without memory for the copy, releases the item at once.
 * The record of the user that the item discharges is held by a session until here, and by the item
 * from here on. */
static void defer(const struct deferred *what)
{
    struct deferred *deferred = malloc(sizeof(*deferred));

    if (!deferred) {
        release(what);
        return;
    }
    *deferred = *what;
    if (deferred->end.user)
        user_defer(deferred->end.user);
    pthread_mutex_lock(&deferred_list.lock);
    if (deferred_list.first)
        deferred_list.last->next = deferred;
    else
        deferred_list.first = deferred;
    deferred_list.last = deferred;
    /* seq_cst: before the caller tests whether the main lane sleeps; pairs with waker_doze */
    atomic_fetch_add(&deferred_list.count, 1);
    atomic_fetch_add_explicit(&deferred_list.bytes, what->size, memory_order_relaxed);
    pthread_mutex_unlock(&deferred_list.lock);
}

void deferred_release_add(void *mapping, void *registered, uint64_t size, struct deferred_end end)
{
    const struct deferred what = {
        .mapping = mapping, .registered = registered, .size = size, .end = end};

    if (registered)
        defer(&what);
    else
        release(&what);
}

void deferred_release_place(void *memory, uint64_t room, uint64_t size, struct deferred_end end)
{
    const struct deferred what = {.registered = memory, .room = room, .size = size, .end = end};

    defer(&what);
}

void deferred_release_window(uint64_t base, uint64_t size)
{
    const struct deferred what = {.window_base = base, .window_size = size};

    defer(&what);
}

void deferred_release_array(CUarray array, uint64_t size, struct deferred_end end)
{
    const struct deferred what = {.array = array, .size = size, .end = end};

    defer(&what);
}

void deferred_release_mipmap(CUmipmappedArray mipmap, uint64_t size, struct deferred_end end)
{
    const struct deferred what = {.mipmap = mipmap, .size = size, .end = end};

    defer(&what);
}

void deferred_release_texture(CUtexObject texture, struct deferred_end end)
{
    const struct deferred what = {.texture = texture, .end = end};

    defer(&what);
}

void deferred_release_surface(CUsurfObject surface, struct deferred_end end)
{
    const struct deferred what = {.surface = surface, .end = end};

    defer(&what);
}

bool deferred_release_any(void)
{
    return atomic_load(&deferred_list.count) > 0; /* seq_cst: see defer */
}

bool deferred_release_has(uint64_t address)
{
    bool has = false;

    pthread_mutex_lock(&deferred_list.lock);
    for (const struct deferred *d = deferred_list.first; d; d = d->next)
        has = has || address - d->window_base < d->window_size;
    pthread_mutex_unlock(&deferred_list.lock);
    return has;
}

bool deferred_release_full(void)
{
    return atomic_load_explicit(&deferred_list.count, memory_order_relaxed) > DEFERRED_MAX ||
           atomic_load_explicit(&deferred_list.bytes, memory_order_relaxed) > BYTES_MAX;
}

/* Returns the oldest item; NULL: the list is empty. */
static struct deferred *deferred_first(void)
{
    struct deferred *deferred;

    pthread_mutex_lock(&deferred_list.lock);
    deferred = deferred_list.first;
    pthread_mutex_unlock(&deferred_list.lock);
    return deferred;
}

/* Removes the first item after its release: until then deferred_release_has still finds it. Only
 * the quiet thread calls this. */
static void deferred_remove(struct deferred *deferred)
{
    pthread_mutex_lock(&deferred_list.lock);
    deferred_list.first = deferred->next;
    atomic_fetch_sub_explicit(&deferred_list.count, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&deferred_list.bytes, deferred->size, memory_order_relaxed);
    pthread_mutex_unlock(&deferred_list.lock);
}

void deferred_release_run(void)
{
    const uint64_t until = clock_ns() + RELEASE_NS;
    struct deferred *deferred;

    while ((deferred = deferred_first())) {
        release(deferred);
        deferred_remove(deferred);
        if (deferred->end.user)
            user_defer_end(deferred->end.user);
        free(deferred);
        if (clock_ns() > until)
            return;
    }
}

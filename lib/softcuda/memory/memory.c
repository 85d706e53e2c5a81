// Device memory: the table of ranges, the quota, and the views engine threads take.
//
// State under `lock`, except the published map and the view slots, which are lock-free. Trusts its
// callers in this library; what comes from outside was checked in vmm.c, alloc.c and host.c.
#include "softcuda/memory/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "softcuda/device/device.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct range *ranges; // sorted, not overlapping
static size_t range_count, range_capacity;

static uint64_t quota_total, quota_used;

// ---- Views and the published map

// Each slot has a cache line of its own, since engine threads write theirs twice a turn.
struct view_slot {
    _Alignas(64) _Atomic uint64_t epoch; // 0: no view open
    atomic_bool taken;
};

enum { VIEW_SLOTS = DEVICE_MAX_THREADS + 256 };

static struct view_slot slots[VIEW_SLOTS];
static const struct mem_map empty_map;
static const struct mem_map *_Atomic published = &empty_map;
static _Atomic uint64_t epoch = 1;
static struct mem_map *retired[32]; // replaced maps that an open view may still use
static size_t retired_count;

struct view_slot *view_slot_new(void)
{
    for (size_t i = 0; i < VIEW_SLOTS; i++) {
        bool expected = false;

        if (atomic_compare_exchange_strong_explicit(&slots[i].taken, &expected, true,
                                                    memory_order_acquire, memory_order_relaxed))
            return &slots[i];
    }
    return NULL;
}

void view_slot_free(struct view_slot *slot)
{
    atomic_store_explicit(&slot->taken, false, memory_order_release);
}

void mem_view_begin(struct mem_view *view, struct view_slot *slot)
{
    // Both sequentially consistent, against map_publish and views_wait: either the waiter sees this
    // epoch, or this thread sees the new map.
    atomic_store(&slot->epoch, atomic_load(&epoch));
    view->map = atomic_load(&published);
    view->last[0] = view->last[1] = (struct mem_extent){0};
}

void mem_view_end(struct view_slot *slot)
{
    // Release: accesses through the view come before; pairs with the load in views_wait.
    atomic_store_explicit(&slot->epoch, 0, memory_order_release);
}

bool mem_view_search(struct mem_view *view, uint64_t address, uint64_t size, uint32_t access)
{
    const struct mem_extent *found;

    if (mem_extent_allows(&view->last[1], address, size, access)) {
        struct mem_extent hit = view->last[1];

        view->last[1] = view->last[0];
        view->last[0] = hit;
        return true;
    }
    found = mem_map_find(view->map, address);
    if (!found || !mem_extent_allows(found, address, size, access))
        return false;
    view->last[1] = view->last[0];
    view->last[0] = *found;
    return true;
}

// Waits until every view that was open at the call has ended. Turns are short, so this yields
// rather than sleeps.
static void views_wait(void)
{
    uint64_t now = atomic_fetch_add(&epoch, 1) + 1;

    for (size_t i = 0; i < VIEW_SLOTS; i++) {
        for (unsigned spins = 0;; spins++) {
            uint64_t seen = atomic_load(&slots[i].epoch);

            if (seen == 0 || seen >= now)
                break;
            if (spins < 100)
                cpu_relax();
            else
                sched_yield();
        }
    }
    for (size_t i = 0; i < retired_count; i++)
        free(retired[i]);
    retired_count = 0;
}

// Publishes a map of the current ranges. Engine threads see it from their next turn on.
static CUresult map_publish(void)
{
    struct mem_map *map = malloc(sizeof(*map) + range_count * sizeof(map->extents[0]));
    const struct mem_map *old;

    if (!map)
        return CUDA_ERROR_OUT_OF_MEMORY;
    map->count = 0;
    for (size_t i = 0; i < range_count; i++) {
        const struct range *r = &ranges[i];
        struct mem_extent *last = map->count ? &map->extents[map->count - 1] : NULL;

        if (!r->access)
            continue;
        if (last && last->end == r->base && last->access == r->access)
            last->end += r->size;
        else
            map->extents[map->count++] = (struct mem_extent){r->base, r->base + r->size, r->access};
    }
    old = atomic_exchange(&published, map);
    if (old != &empty_map) {
        if (retired_count == ARRAY_SIZE(retired))
            views_wait();
        retired[retired_count++] = (struct mem_map *)old;
    }
    return CUDA_SUCCESS;
}

// ---- Ranges

void memory_lock(void)
{
    pthread_mutex_lock(&lock);
}

void memory_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static size_t range_lower_bound(uint64_t address)
{
    size_t low = 0, high = range_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ranges[middle].base + ranges[middle].size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct range *range_at_or_above(uint64_t address)
{
    size_t i = range_lower_bound(address);

    return i < range_count ? &ranges[i] : NULL;
}

struct range *range_find(uint64_t address)
{
    struct range *r = range_at_or_above(address);

    return r && r->base <= address ? r : NULL;
}

bool range_is_free(uint64_t base, uint64_t size)
{
    const struct range *r = range_at_or_above(base);

    return !r || r->base >= base + size;
}

bool array_grow(void **array, size_t *capacity, size_t count, size_t element)
{
    size_t wanted = *capacity ? *capacity * 2 : 64;
    void *grown;

    if (count < *capacity)
        return true;
    grown = realloc(*array, wanted * element);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

static void range_take_out(size_t i)
{
    memmove(&ranges[i], &ranges[i + 1], (range_count - i - 1) * sizeof(ranges[0]));
    range_count--;
}

CUresult range_insert(const struct range *range)
{
    size_t i = range_lower_bound(range->base);

    if (!array_grow((void **)&ranges, &range_capacity, range_count, sizeof(ranges[0])))
        return CUDA_ERROR_OUT_OF_MEMORY;
    memmove(&ranges[i + 1], &ranges[i], (range_count - i) * sizeof(ranges[0]));
    ranges[i] = *range;
    range_count++;
    if (range->access && map_publish()) {
        range_take_out(i);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

// Publishing a smaller map must not fail, since a removed range must not stay accessible. Without
// memory for a new map, an empty one takes its place: kernels then fault, as they may on a device
// out of memory.
static void map_publish_or_close(void)
{
    if (map_publish()) {
        const struct mem_map *old = atomic_exchange(&published, &empty_map);

        views_wait();
        if (old != &empty_map)
            free((void *)old);
    }
}

void range_remove(uint64_t base)
{
    size_t i = range_lower_bound(base);
    bool visible = ranges[i].access;

    range_take_out(i);
    if (visible)
        map_publish_or_close();
    views_wait();
}

CUresult range_set_access(uint64_t base, uint32_t access)
{
    struct range *r = range_find(base);
    uint32_t before = r->access;

    if (before == access)
        return CUDA_SUCCESS;
    r->access = access;
    if (map_publish()) {
        r->access = before;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (before & ~access)
        views_wait();
    return CUDA_SUCCESS;
}

void memory_wait_turns(void)
{
    views_wait();
}

enum memory_kind memory_locate(uint64_t address, uint64_t size)
{
    enum memory_kind kind = MEMORY_UNKNOWN;
    const struct range *r;
    uint64_t end;

    if (__builtin_add_overflow(address, size, &end))
        return MEMORY_BROKEN;
    memory_lock();
    r = range_find(address);
    if (r) {
        kind = r->kind == RANGE_HOST ? MEMORY_HOST : MEMORY_DEVICE;
        // An allocation may continue in the next range: several ranges may back a window.
        while (r->base + r->size < end || !r->access) {
            const struct range *next = r->access ? range_find(r->base + r->size) : NULL;

            if (!next) {
                kind = MEMORY_BROKEN;
                break;
            }
            r = next;
        }
    }
    memory_unlock();
    return kind;
}

bool memory_is_mapped(uint64_t address, uint64_t size)
{
    struct view_slot *slot = view_slot_new();
    struct mem_view view;
    enum memory_kind kind;
    bool mapped;

    if (!slot) {
        kind = memory_locate(address, size);
        return kind == MEMORY_DEVICE || kind == MEMORY_HOST;
    }
    mem_view_begin(&view, slot);
    mapped = mem_allows(&view, address, size, MEM_READ);
    mem_view_end(slot);
    view_slot_free(slot);
    return mapped;
}

// ---- Quota

CUresult memory_charge(uint64_t bytes)
{
    if (bytes > quota_total - quota_used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    quota_used += bytes;
    return CUDA_SUCCESS;
}

void memory_discharge(uint64_t bytes)
{
    quota_used -= bytes;
}

void memory_info(uint64_t *free_bytes, uint64_t *total_bytes)
{
    memory_lock();
    *free_bytes = quota_total - quota_used;
    *total_bytes = quota_total;
    memory_unlock();
}

CUresult memory_init(uint64_t quota)
{
    quota_total = quota;
    return CUDA_SUCCESS;
}

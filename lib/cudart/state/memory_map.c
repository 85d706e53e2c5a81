/* memory_map.c - see memory_map.h. Arrays sorted by address, under one lock. */
#include "cudart/state/memory_map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/base/block_heap.h"
#include "cudart/state/device.h"

struct map {
    struct memory_range *ranges;
    size_t count, capacity;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct map memory, arenas;
static uint64_t last_id; /* of a range */

/* ---- One map: the lock is held --------------------------------------------------------------- */

/* The number of ranges that begin at or before the address. */
static size_t ranges_before(const struct map *map, uintptr_t address)
{
    size_t low = 0, high = map->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (map->ranges[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool map_add(struct map *map, struct memory_range range)
{
    size_t index;

    if (map->count == map->capacity) {
        size_t wanted = map->capacity ? 2 * map->capacity : 64;
        struct memory_range *larger = realloc(map->ranges, wanted * sizeof(*larger));

        if (larger == NULL)
            return false;
        map->ranges = larger;
        map->capacity = wanted;
    }
    index = ranges_before(map, range.base);
    memmove(&map->ranges[index + 1], &map->ranges[index],
            (map->count - index) * sizeof(*map->ranges));
    map->ranges[index] = range;
    map->count++;
    return true;
}

/* The range that the address lies in. */
static struct memory_range *map_find(const struct map *map, uintptr_t address)
{
    size_t index = ranges_before(map, address);

    return index > 0 && address - map->ranges[index - 1].base < map->ranges[index - 1].size
               ? &map->ranges[index - 1]
               : NULL;
}

static void map_remove(struct map *map, const struct memory_range *range)
{
    size_t index = (size_t)(range - map->ranges);

    map->count--;
    memmove(&map->ranges[index], &map->ranges[index + 1],
            (map->count - index) * sizeof(*map->ranges));
}

/* ---- What the program has -------------------------------------------------------------------- */

static bool locked_add(struct map *map, struct memory_range range)
{
    bool added;

    pthread_mutex_lock(&lock);
    range.id = ++last_id;
    added = map_add(map, range);
    pthread_mutex_unlock(&lock);
    return added;
}

bool memory_map_add(const void *base, size_t size, enum memory_kind kind, unsigned flags)
{
    return locked_add(&memory, (struct memory_range){.base = (uintptr_t)base,
                                                     .size = size,
                                                     .kind = kind,
                                                     .flags = flags,
                                                     .device = device_number()});
}

bool memory_map_add_block(struct block *block, size_t size, unsigned pool)
{
    return locked_add(&memory, (struct memory_range){.base = block->base,
                                                     .size = size,
                                                     .kind = MEMORY_DEVICE,
                                                     .flags = pool,
                                                     .block = block,
                                                     .device = device_number()});
}

bool memory_map_add_opened(const void *base, size_t size, unsigned flags, size_t offset)
{
    return locked_add(&memory, (struct memory_range){.base = (uintptr_t)base,
                                                     .size = size,
                                                     .kind = MEMORY_DEVICE,
                                                     .flags = flags,
                                                     .offset = offset,
                                                     .device = device_number()});
}

static void remove_at(struct map *map, uintptr_t base)
{
    const struct memory_range *range;

    pthread_mutex_lock(&lock);
    range = map_find(map, base);
    if (range != NULL && range->base == base)
        map_remove(map, range);
    pthread_mutex_unlock(&lock);
}

void memory_map_remove(const void *base)
{
    remove_at(&memory, (uintptr_t)base);
}

bool memory_map_take(const void *base, struct memory_range *taken)
{
    const struct memory_range *range;
    bool found;

    pthread_mutex_lock(&lock);
    range = map_find(&memory, (uintptr_t)base);
    found = range != NULL && range->base == (uintptr_t)base && !memory_is_host(range) &&
            !memory_is_opened(range);
    if (found) {
        *taken = *range;
        map_remove(&memory, range);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

bool memory_map_find(const void *address, struct memory_range *found)
{
    const struct memory_range *range;

    pthread_mutex_lock(&lock);
    range = map_find(&memory, (uintptr_t)address);
    if (range != NULL)
        *found = *range;
    pthread_mutex_unlock(&lock);
    return range != NULL;
}

/* ---- Pinned memory that several devices reach ------------------------------------------------ */

/* The lock is held. */
static bool join_note(struct memory_range *range, unsigned device, struct memory_range *found)
{
    if (range == NULL || range->kind != MEMORY_PINNED || range->device == device ||
        range->joined >> device & 1)
        return false;
    range->joined |= 1u << device;
    *found = *range;
    return true;
}

bool memory_map_join_next(unsigned device, uintptr_t from, struct memory_range *found)
{
    bool noted = false;

    pthread_mutex_lock(&lock);
    for (size_t i = ranges_before(&memory, from); i < memory.count && !noted; i++)
        noted = join_note(&memory.ranges[i], device, found);
    pthread_mutex_unlock(&lock);
    return noted;
}

bool memory_map_join(const void *address, unsigned device, struct memory_range *found)
{
    bool noted;

    pthread_mutex_lock(&lock);
    noted = join_note(map_find(&memory, (uintptr_t)address), device, found);
    pthread_mutex_unlock(&lock);
    return noted;
}

void memory_map_unjoin(const struct memory_range *joined, unsigned device)
{
    struct memory_range *range;

    pthread_mutex_lock(&lock);
    range = map_find(&memory, joined->base);
    if (range != NULL)
        range->joined &= ~(1u << device);
    pthread_mutex_unlock(&lock);
}

bool memory_map_take_pinned(unsigned device, struct memory_range *taken)
{
    size_t i = 0;
    bool any;

    pthread_mutex_lock(&lock);
    while (i < memory.count &&
           (memory.ranges[i].device != device || memory.ranges[i].kind != MEMORY_PINNED))
        i++;
    any = i < memory.count;
    if (any) {
        *taken = memory.ranges[i];
        map_remove(&memory, &memory.ranges[i]);
    }
    pthread_mutex_unlock(&lock);
    return any;
}

/* ---- Arenas ---------------------------------------------------------------------------------- */

bool memory_map_add_arena(uint64_t base, size_t size)
{
    return locked_add(
        &arenas, (struct memory_range){
                     .base = base, .size = size, .kind = MEMORY_DEVICE, .device = device_number()});
}

void memory_map_remove_arena(uint64_t base)
{
    remove_at(&arenas, base);
}

bool memory_map_in_arena(const void *address)
{
    bool inside;

    pthread_mutex_lock(&lock);
    inside = map_find(&arenas, (uintptr_t)address) != NULL;
    pthread_mutex_unlock(&lock);
    return inside;
}

bool memory_map_allows(const void *address, size_t size)
{
    const struct memory_range *range;
    bool allowed;

    pthread_mutex_lock(&lock);
    range = map_find(&memory, (uintptr_t)address);
    if (range != NULL && range->block != NULL)
        allowed = size <= range->size - ((uintptr_t)address - range->base);
    else
        allowed = range != NULL || map_find(&arenas, (uintptr_t)address) == NULL;
    pthread_mutex_unlock(&lock);
    return allowed;
}

int memory_map_device(const void *address)
{
    struct memory_range range;

    return memory_map_find(address, &range) ? (int)range.device : device_of_window(address);
}

static void map_clear(struct map *map, unsigned device)
{
    size_t kept = 0;

    for (size_t i = 0; i < map->count; i++) {
        map->ranges[i].joined &= ~(1u << device);
        if (map->ranges[i].device != device)
            map->ranges[kept++] = map->ranges[i];
    }
    map->count = kept;
}

void memory_map_clear(unsigned device)
{
    pthread_mutex_lock(&lock);
    map_clear(&memory, device);
    map_clear(&arenas, device);
    pthread_mutex_unlock(&lock);
}

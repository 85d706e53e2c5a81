/* memory_map.c - see memory_map.h. An array in the order of addresses, under one lock. */
#include "cudart/state/memory_map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory_range *ranges;
static size_t count, capacity;

/* The number of ranges that begin at or before the address. */
static size_t ranges_before(uintptr_t address)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (ranges[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool memory_map_add(const void *base, size_t size, enum memory_kind kind, unsigned flags)
{
    bool added = false;
    size_t place;

    pthread_mutex_lock(&lock);
    if (count == capacity) {
        size_t wanted = capacity ? 2 * capacity : 64;
        struct memory_range *larger = realloc(ranges, wanted * sizeof(*ranges));

        if (larger == NULL)
            goto out;
        ranges = larger;
        capacity = wanted;
    }
    place = ranges_before((uintptr_t)base);
    memmove(&ranges[place + 1], &ranges[place], (count - place) * sizeof(*ranges));
    ranges[place] = (struct memory_range){(uintptr_t)base, size, kind, flags};
    count++;
    added = true;
out:
    pthread_mutex_unlock(&lock);
    return added;
}

void memory_map_remove(const void *base)
{
    size_t place;

    pthread_mutex_lock(&lock);
    place = ranges_before((uintptr_t)base);
    if (place > 0 && ranges[place - 1].base == (uintptr_t)base) {
        memmove(&ranges[place - 1], &ranges[place], (count - place) * sizeof(*ranges));
        count--;
    }
    pthread_mutex_unlock(&lock);
}

bool memory_map_find(const void *address, struct memory_range *found)
{
    bool inside = false;
    size_t place;

    pthread_mutex_lock(&lock);
    place = ranges_before((uintptr_t)address);
    if (place > 0 && (uintptr_t)address - ranges[place - 1].base < ranges[place - 1].size) {
        *found = ranges[place - 1];
        inside = true;
    }
    pthread_mutex_unlock(&lock);
    return inside;
}

void memory_map_clear(void)
{
    pthread_mutex_lock(&lock);
    count = 0;
    pthread_mutex_unlock(&lock);
}

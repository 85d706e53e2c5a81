/* space.c - see space.h. */
#include "worker/memory/space.h"

#include <stdlib.h>
#include <string.h>

void space_init(struct space *space, uint64_t base, uint64_t size)
{
    *space = (struct space){.base = base, .size = size};
}

void space_deinit(struct space *space)
{
    free(space->places);
    *space = (struct space){0};
}

size_t places_up_to(const struct place *places, size_t count, uint64_t address)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (places[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct place *insert(struct space *space, size_t index, uint64_t address, uint64_t size,
                            void *tag)
{
    if (space->count == space->capacity) {
        size_t capacity = space->capacity ? space->capacity * 2 : 8;
        struct place *places = realloc(space->places, capacity * sizeof(*places));
        if (!places)
            return NULL;
        space->places = places;
        space->capacity = capacity;
    }
    memmove(&space->places[index + 1], &space->places[index],
            (space->count - index) * sizeof(*space->places));
    space->places[index] = (struct place){address, size, tag};
    space->count++;
    return &space->places[index];
}

/* Finds the lowest gap: *index is the index of the place behind the gap, *address is where the gap
 * begins. Returns false when there is none. */
static bool gap_find(const struct space *space, uint64_t size, uint64_t align, size_t *index,
                     uint64_t *address)
{
    uint64_t end = space->base + space->size;
    uint64_t start = space->base;

    for (size_t i = 0; i <= space->count; i++) {
        uint64_t at = (start + align - 1) & ~(align - 1);
        uint64_t limit =
            i < space->count && space->places[i].address < end ? space->places[i].address : end;
        if (at >= start && at <= limit && limit - at >= size) {
            *index = i;
            *address = at;
            return true;
        }
        if (i < space->count && space->places[i].address + space->places[i].size > start)
            start = space->places[i].address + space->places[i].size;
    }
    return false;
}

struct place *space_take(struct space *space, uint64_t size, uint64_t align)
{
    uint64_t address;
    size_t index;

    return gap_find(space, size, align, &index, &address)
               ? insert(space, index, address, size, NULL)
               : NULL;
}

bool space_has(const struct space *space, uint64_t size, uint64_t align)
{
    uint64_t address;
    size_t index;

    return gap_find(space, size, align, &index, &address);
}

bool space_put(struct space *space, uint64_t address, uint64_t size, void *tag)
{
    return address >= space->base && address - space->base <= space->size &&
           size <= space->size - (address - space->base) && space_add(space, address, size, tag);
}

bool space_add(struct space *space, uint64_t address, uint64_t size, void *tag)
{
    size_t next = places_up_to(space->places, space->count, address);

    if (size == 0)
        return false;
    if (next < space->count && space->places[next].address - address < size)
        return false;
    if (next > 0 && address - space->places[next - 1].address < space->places[next - 1].size)
        return false;
    return insert(space, next, address, size, tag) != NULL;
}

struct place *space_at(const struct space *space, uint64_t address)
{
    size_t next = places_up_to(space->places, space->count, address);

    return next > 0 && space->places[next - 1].address == address ? &space->places[next - 1] : NULL;
}

struct place *space_containing(const struct space *space, uint64_t address, uint64_t size)
{
    size_t next = places_up_to(space->places, space->count, address);
    struct place *place = next > 0 ? &space->places[next - 1] : NULL;

    if (!place || address - place->address >= place->size ||
        size > place->size - (address - place->address))
        return NULL;
    return place;
}

struct place *space_overlapping(const struct space *space, uint64_t address, uint64_t size)
{
    size_t next = places_up_to(space->places, space->count, address);

    if (next > 0 && address - space->places[next - 1].address < space->places[next - 1].size)
        return &space->places[next - 1];
    return next < space->count && space->places[next].address - address < size
               ? &space->places[next]
               : NULL;
}

void space_remove(struct space *space, struct place *place)
{
    size_t index = (size_t)(place - space->places);

    memmove(place, place + 1, (space->count - index - 1) * sizeof(*place));
    space->count--;
}

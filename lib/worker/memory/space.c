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
    free(space->spans);
    *space = (struct space){0};
}

size_t spans_up_to(const struct span *spans, size_t count, uint64_t address)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (spans[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct span *insert(struct space *space, size_t index, uint64_t address, uint64_t size,
                           void *tag)
{
    if (space->count == space->capacity) {
        size_t capacity = space->capacity ? space->capacity * 2 : 8;
        struct span *spans = realloc(space->spans, capacity * sizeof(*spans));
        if (!spans)
            return NULL;
        space->spans = spans;
        space->capacity = capacity;
    }
    memmove(&space->spans[index + 1], &space->spans[index],
            (space->count - index) * sizeof(*space->spans));
    space->spans[index] = (struct span){address, size, tag};
    space->count++;
    return &space->spans[index];
}

/* The lowest gap: before which span, and where. Returns false when there is none. */
static bool gap_find(const struct space *space, uint64_t size, uint64_t align, size_t *index,
                     uint64_t *address)
{
    uint64_t end = space->base + space->size;
    uint64_t start = space->base;

    for (size_t i = 0; i <= space->count; i++) {
        uint64_t at = (start + align - 1) & ~(align - 1);
        uint64_t limit =
            i < space->count && space->spans[i].address < end ? space->spans[i].address : end;
        if (at >= start && at <= limit && limit - at >= size) {
            *index = i;
            *address = at;
            return true;
        }
        if (i < space->count && space->spans[i].address + space->spans[i].size > start)
            start = space->spans[i].address + space->spans[i].size;
    }
    return false;
}

struct span *space_take(struct space *space, uint64_t size, uint64_t align)
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
    size_t next = spans_up_to(space->spans, space->count, address);

    if (size == 0)
        return false;
    if (next < space->count && space->spans[next].address - address < size)
        return false;
    if (next > 0 && address - space->spans[next - 1].address < space->spans[next - 1].size)
        return false;
    return insert(space, next, address, size, tag) != NULL;
}

struct span *space_at(const struct space *space, uint64_t address)
{
    size_t next = spans_up_to(space->spans, space->count, address);

    return next > 0 && space->spans[next - 1].address == address ? &space->spans[next - 1] : NULL;
}

struct span *space_containing(const struct space *space, uint64_t address, uint64_t size)
{
    size_t next = spans_up_to(space->spans, space->count, address);
    struct span *span = next > 0 ? &space->spans[next - 1] : NULL;

    if (!span || address - span->address >= span->size ||
        size > span->size - (address - span->address))
        return NULL;
    return span;
}

struct span *space_overlapping(const struct space *space, uint64_t address, uint64_t size)
{
    size_t next = spans_up_to(space->spans, space->count, address);

    if (next > 0 && address - space->spans[next - 1].address < space->spans[next - 1].size)
        return &space->spans[next - 1];
    return next < space->count && space->spans[next].address - address < size ? &space->spans[next]
                                                                              : NULL;
}

void space_remove(struct space *space, struct span *span)
{
    size_t index = (size_t)(span - space->spans);

    memmove(span, span + 1, (space->count - index - 1) * sizeof(*span));
    space->count--;
}

// Next-fit over a table of units. State is in struct units, which its owner locks. Every number
// that a caller passes is checked.
#include "softcuda/memory/units.h"

#include <stdlib.h>
#include <string.h>

enum { INSIDE_RUN = -1 };

struct units *units_new(uint32_t count)
{
    struct units *u = calloc(1, sizeof(*u) + (size_t)count * sizeof(u->length[0]));

    if (u)
        u->count = u->free_count = count;
    return u;
}

static uint32_t units_find(const struct units *u, uint32_t from, uint32_t wanted)
{
    uint32_t run = 0;

    for (uint32_t i = from; i < u->count; i++) {
        run = u->length[i] ? 0 : run + 1;
        if (run == wanted)
            return i + 1 - wanted;
    }
    return UNITS_NONE;
}

uint32_t units_take(struct units *u, uint32_t wanted)
{
    uint32_t first;

    if (wanted == 0 || u->free_count < wanted)
        return UNITS_NONE;
    first = units_find(u, u->search_from, wanted);
    if (first == UNITS_NONE)
        first = units_find(u, 0, wanted);
    if (first == UNITS_NONE)
        return UNITS_NONE;
    u->length[first] = wanted;
    for (uint32_t i = 1; i < wanted; i++)
        u->length[first + i] = (uint32_t)INSIDE_RUN;
    u->free_count -= wanted;
    u->search_from = first + wanted;
    return first;
}

uint32_t units_give(struct units *u, uint32_t first)
{
    uint32_t length;

    if (first >= u->count || !u->length[first] || u->length[first] == (uint32_t)INSIDE_RUN)
        return 0;
    length = u->length[first];
    memset(&u->length[first], 0, length * sizeof(u->length[0]));
    u->free_count += length;
    u->search_from = first;
    return length;
}

uint32_t units_run_of(const struct units *u, uint32_t unit)
{
    if (unit >= u->count)
        return UNITS_NONE;
    while (u->length[unit] == (uint32_t)INSIDE_RUN)
        unit--;
    return u->length[unit] ? unit : UNITS_NONE;
}

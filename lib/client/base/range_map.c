/* range_map.c - see range_map.h. */
#include "client/base/range_map.h"

#include <stdlib.h>
#include <string.h>

void range_map_deinit(struct range_map *map)
{
    free(map->range);
    *map = (struct range_map){0};
}

bool range_map_reserve(struct range_map *map)
{
    size_t room = map->room ? map->room * 2 : 16;
    struct range *range;

    if (map->count < map->room)
        return true;
    range = realloc(map->range, room * sizeof(*range));
    if (!range)
        return false;
    map->range = range;
    map->room = room;
    return true;
}

/* Returns the index of the first range whose last address is >= address. */
static size_t index_near(const struct range_map *map, uint64_t address)
{
    size_t low = 0, high = map->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct range *r = &map->range[middle];
        if (r->base + (r->size - 1) < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool range_map_insert(struct range_map *map, struct range range)
{
    size_t i = index_near(map, range.base);

    if (!range.size || range.base + (range.size - 1) < range.base)
        return false;
    if (i < map->count && map->range[i].base <= range.base + (range.size - 1))
        return false;
    memmove(&map->range[i + 1], &map->range[i], (map->count - i) * sizeof(range));
    map->range[i] = range;
    map->count++;
    return true;
}

const struct range *range_map_near(const struct range_map *map, uint64_t address)
{
    size_t i = index_near(map, address);

    return i < map->count ? &map->range[i] : NULL;
}

const struct range *range_map_at(const struct range_map *map, uint64_t base)
{
    const struct range *r = range_map_near(map, base);

    return r && r->base == base ? r : NULL;
}

bool range_map_remove(struct range_map *map, uint64_t base)
{
    size_t i = index_near(map, base);

    if (i == map->count || map->range[i].base != base)
        return false;
    map->count--;
    memmove(&map->range[i], &map->range[i + 1], (map->count - i) * sizeof(*map->range));
    return true;
}

void range_map_remove_value(struct range_map *map, uint64_t value)
{
    size_t kept = 0;

    for (size_t i = 0; i < map->count; i++) {
        if (map->range[i].value != value)
            map->range[kept++] = map->range[i];
    }
    map->count = kept;
}

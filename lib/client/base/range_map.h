/*
 * range_map.h - disjoint ranges of addresses, sorted, each with a value: live device allocations,
 * module globals, host blocks. No lock of its own: the owner has one.
 */
#ifndef GS_CLIENT_RANGE_MAP_H
#define GS_CLIENT_RANGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    uint64_t base;
    uint64_t size; /* not 0; base + size does not wrap */
    uint64_t value;
};

struct range_map {
    struct range *range;
    size_t count, room;
};

void range_map_deinit(struct range_map *map);
/* Makes room for one more range, so that the next insert cannot fail. False: no memory. */
bool range_map_reserve(struct range_map *map);
/* False: it overlaps one that is there (nothing changed), or is empty, or wraps. Needs
 * range_map_reserve before it. */
bool range_map_insert(struct range_map *map, struct range range);
/* The range that begins at base, or NULL. The pointer holds until the next change. */
const struct range *range_map_at(const struct range_map *map, uint64_t base);
/* The first range that holds an address >= the given one, or NULL: the only one that can hold it.
 */
const struct range *range_map_near(const struct range_map *map, uint64_t address);
/* Removes the range that begins at base; false: there is none. */
bool range_map_remove(struct range_map *map, uint64_t base);
/* Removes all ranges of this value. */
void range_map_remove_value(struct range_map *map, uint64_t value);

/* Does [address, address + size) lie in range? Right for sizes that would wrap. */
static inline bool range_holds(const struct range *range, uint64_t address, uint64_t size)
{
    return address >= range->base && address - range->base <= range->size &&
           size <= range->size - (address - range->base);
}

#endif

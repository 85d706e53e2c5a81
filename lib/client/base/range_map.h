/*
 * range_map.h - a sorted map of disjoint ranges of addresses, each with a value: live device
 * allocations, module globals, host blocks. The owner locks the map.
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
/* Makes room for one more range, which range_map_insert needs. Returns false if there is no
 * memory. */
bool range_map_reserve(struct range_map *map);
/* Adds a range, after range_map_reserve. Returns false, and changes nothing, if the range overlaps
 * another, is empty, or wraps around. */
bool range_map_insert(struct range_map *map, struct range range);
/* Returns the range that begins at base, or NULL. The pointer is valid until the next change. */
const struct range *range_map_at(const struct range_map *map, uint64_t base);
/* Returns the first range that ends behind the address, or NULL. No other range can contain the
 * address. */
const struct range *range_map_near(const struct range_map *map, uint64_t address);
/* Removes the range that begins at base. Returns false if there is none. */
bool range_map_remove(struct range_map *map, uint64_t base);
/* Removes all ranges of this value. */
void range_map_remove_value(struct range_map *map, uint64_t value);

/* Returns true if the range contains [address, address + size). Correct also if address + size
 * wraps around. */
static inline bool range_holds(const struct range *range, uint64_t address, uint64_t size)
{
    return address >= range->base && address - range->base <= range->size &&
           size <= range->size - (address - range->base);
}

#endif

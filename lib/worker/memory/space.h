/*
 * space.h - a space: a range of addresses and the places in use in it, in a sorted array. Places
 * are taken first fit.
 *
 * A session has a space for its chunks and one for its sinks, and a chunk has one for its small
 * allocations. A space has no lock: it has one owner at a time. It holds numbers only, and never
 * touches the memory that they describe.
 */
#ifndef GS_WORKER_MEMORY_SPACE_H
#define GS_WORKER_MEMORY_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place {
    uint64_t address, size;
    void *tag; /* belongs to the space's owner */
};

/* Returns how many of the places, which are sorted by address, begin at `address` or before it. */
size_t places_up_to(const struct place *places, size_t count, uint64_t address);

struct space {
    uint64_t base, size;
    struct place *places; /* sorted by address, disjoint */
    size_t count, capacity;
};

void space_init(struct space *space, uint64_t base, uint64_t size);
void space_deinit(struct space *space);

/* Takes the lowest gap of `size` bytes that begins at a multiple of `align` (a power of two). NULL:
 * there is no gap, or no memory for the array. The pointer is good until the next change. */
struct place *space_take(struct space *space, uint64_t size, uint64_t align);

/* Returns whether there is such a gap. */
bool space_has(const struct space *space, uint64_t size, uint64_t align);

/* Adds a place at a given address. Returns false when the place overlaps another or leaves the
 * space, or when there is no memory. */
bool space_put(struct space *space, uint64_t address, uint64_t size, void *tag);
/* Adds a place that may lie outside of the space's own range. Returns false when the place overlaps
 * another, or when there is no memory. */
bool space_add(struct space *space, uint64_t address, uint64_t size, void *tag);

/* Returns the place that begins at `address`; NULL: there is none. The owner of the space may
 * change the place's tag. */
struct place *space_at(const struct space *space, uint64_t address);

/* Returns the place that contains all of [address, address + size), which may not wrap; NULL: there
 * is none. */
struct place *space_containing(const struct space *space, uint64_t address, uint64_t size);

/* Returns the first place that overlaps [address, address + size), which may not wrap; NULL: there
 * is none. */
struct place *space_overlapping(const struct space *space, uint64_t address, uint64_t size);

void space_remove(struct space *space, struct place *place);

#endif

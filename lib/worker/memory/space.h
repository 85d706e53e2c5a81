/*
 * space.h - a range of addresses and the places in use in it: a sorted array, first fit.
 *
 * A space serves a session's window (places: chunks; another one: sinks) and a chunk (places: small
 * allocations). It has no lock: each space has one owner at a time. It holds numbers only and never
 * touches the memory that it describes.
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

/* How many of the places, which are sorted by address, begin at `address` or before it. */
size_t places_up_to(const struct place *places, size_t count, uint64_t address);

struct space {
    uint64_t base, size;
    struct place *places; /* sorted by address, disjoint */
    size_t count, capacity;
};

void space_init(struct space *space, uint64_t base, uint64_t size);
void space_deinit(struct space *space);

/* Takes the lowest gap of `size` bytes at a multiple of `align` (a power of two). NULL: there is no
 * gap, or no memory for the array. The pointer is good until the next change. */
struct place *space_take(struct space *space, uint64_t size, uint64_t align);

/* Whether there is such a gap. */
bool space_has(const struct space *space, uint64_t size, uint64_t align);

/* Adds a place at a given address. Returns false when the place overlaps another or leaves the
 * space, or when there is no memory. */
bool space_put(struct space *space, uint64_t address, uint64_t size, void *tag);
/* The same for a place that may lie outside of what space_take gives out. */
bool space_add(struct space *space, uint64_t address, uint64_t size, void *tag);

/* The place that begins at `address`, which the space's owner may change; NULL: none does. */
struct place *space_at(const struct space *space, uint64_t address);

/* The place that contains all of [address, address + size), which may not wrap; NULL: none does. */
struct place *space_containing(const struct space *space, uint64_t address, uint64_t size);

/* The first place that has an address in [address, address + size), which may not wrap; NULL: none
 * has. */
struct place *space_overlapping(const struct space *space, uint64_t address, uint64_t size);

void space_remove(struct space *space, struct place *place);

#endif

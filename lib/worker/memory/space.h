/*
 * space.h - a range of addresses and the spans in use in it: a sorted array, first fit.
 *
 * A space serves a session's window (spans: chunks; another one: sinks) and a chunk (spans: small
 * allocations). It has no lock: each space has one owner at a time. It holds numbers only and never
 * touches the memory that it describes.
 */
#ifndef GS_WORKER_MEMORY_SPACE_H
#define GS_WORKER_MEMORY_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
    uint64_t address, size;
    void *tag; /* belongs to the space's owner */
};

/* How many of the spans, which are sorted by address, begin at `address` or before it. */
size_t spans_up_to(const struct span *spans, size_t count, uint64_t address);

struct space {
    uint64_t base, size;
    struct span *spans; /* sorted by address, disjoint */
    size_t count, capacity;
};

void space_init(struct space *space, uint64_t base, uint64_t size);
void space_deinit(struct space *space);

/* Takes the lowest gap of `size` bytes at a multiple of `align` (a power of two). NULL: there is no
 * gap, or no memory for the array. The pointer is good until the next change. */
struct span *space_take(struct space *space, uint64_t size, uint64_t align);

/* Whether there is such a gap. */
bool space_has(const struct space *space, uint64_t size, uint64_t align);

/* Adds a span at a given place. Returns false when the span overlaps another or leaves the space,
 * or when there is no memory. */
bool space_put(struct space *space, uint64_t address, uint64_t size, void *tag);
/* The same for a span that may lie outside of what space_take gives out. */
bool space_add(struct space *space, uint64_t address, uint64_t size, void *tag);

/* The span that begins at `address`, which the space's owner may change; NULL: none does. */
struct span *space_at(const struct space *space, uint64_t address);

/* The span that contains all of [address, address + size), which may not wrap; NULL: none does. */
struct span *space_containing(const struct space *space, uint64_t address, uint64_t size);

/* The first span that has an address in [address, address + size), which may not wrap; NULL: none
 * has. */
struct span *space_overlapping(const struct space *space, uint64_t address, uint64_t size);

void space_remove(struct space *space, struct span *span);

#endif

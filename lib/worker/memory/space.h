/*
 * space.h - a range of addresses and the spans in use in it: a sorted array, first fit.
 *
 * Serves a session's window (spans: chunks), a chunk (spans: small allocations) and the
 * dispatcher's check of pointers (spans: live allocations). No locks: each space has one owner at a
 * time. Numbers only: it never touches the memory that it describes.
 */
#ifndef GS_WORKER_MEMORY_SPACE_H
#define GS_WORKER_MEMORY_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
    uint64_t address, size;
    void *tag; /* the owner's */
};

struct space {
    uint64_t base, size;
    struct span *spans; /* sorted by address, disjoint */
    size_t count, capacity;
};

void space_init(struct space *space, uint64_t base, uint64_t size);
void space_deinit(struct space *space);

/* Takes the lowest gap of `size` bytes at a multiple of `align` (a power of two). NULL: no gap, or
 * no memory for the array. The pointer is good until the next change. */
struct span *space_take(struct space *space, uint64_t size, uint64_t align);

/* Notes a span at a given place. false: it overlaps another, leaves the space, or no memory. */
bool space_put(struct space *space, uint64_t address, uint64_t size, void *tag);

/* The span that begins at `address`; NULL if none does. */
struct span *space_at(struct space *space, uint64_t address);

/* The span that wholly contains [address, address + size), which may not wrap; NULL if none. */
struct span *space_containing(struct space *space, uint64_t address, uint64_t size);

void space_remove(struct space *space, struct span *span);

#endif

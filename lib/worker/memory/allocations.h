/*
 * allocations.h - the table of what copies may name by a device address: live allocations, module
 * globals, host blocks that kernels reach. The lanes look it up, and change it; a tenant may have a
 * million entries, and all tenants wait for a lane. So a change moves one page of entries at most.
 *
 * Belongs to the session's lane.
 */
#ifndef GS_WORKER_MEMORY_ALLOCATIONS_H
#define GS_WORKER_MEMORY_ALLOCATIONS_H

#include "worker/memory/space.h"

struct allocation_page;

/* All zero: empty. */
struct allocations {
    struct allocation_page **pages; /* in the order of their addresses; none is empty */
    size_t count, capacity;
};

void allocations_deinit(struct allocations *allocations);

/* False: it overlaps another one, has no bytes, or there is no memory. */
bool allocations_put(struct allocations *allocations, uint64_t address, uint64_t size, void *tag);

/* The one that begins at `address`; NULL: none does. Good until the next change. */
const struct place *allocations_at(const struct allocations *allocations, uint64_t address);

/* The one that contains all of [address, address + size), which may not wrap; NULL: none does. */
const struct place *allocations_containing(const struct allocations *allocations, uint64_t address,
                                           uint64_t size);

/* Removes the one that begins at `address`, if any does. */
void allocations_remove(struct allocations *allocations, uint64_t address);

#endif

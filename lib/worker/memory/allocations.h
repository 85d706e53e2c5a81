/*
 * allocations.h - a session's table of the memory that copies may name by a device address: live
 * allocations, module globals, and host blocks that kernels reach. The lanes look entries up and
 * change them. A session may have a million entries, and all tenants of a lane wait while it
 * changes the table, so a change moves one page of entries at most.
 *
 * The table belongs to the session's lane.
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

/* Adds the entry [address, address + size). Returns false when it overlaps another entry, is empty,
 * or there is no memory. */
bool allocations_put(struct allocations *allocations, uint64_t address, uint64_t size, void *tag);

/* Returns the entry that begins at `address`; NULL: there is none. The pointer is good until the
 * next change. */
const struct place *allocations_at(const struct allocations *allocations, uint64_t address);

/* Returns the entry that contains all of [address, address + size), which may not wrap; NULL: there
 * is none. The pointer is good until the next change. */
const struct place *allocations_containing(const struct allocations *allocations, uint64_t address,
                                           uint64_t size);

/* Removes the entry that begins at `address`, if there is one. */
void allocations_remove(struct allocations *allocations, uint64_t address);

#endif

/*
 * managed_memory.h - the device memory behind managed memory, in whole pages. Small allocations
 * share a slab: an allocation below 1 MiB cannot be exported, and so could not be mapped on devices
 * with peer access. Any thread.
 */
#ifndef GS_CUDART_MANAGED_MEMORY_H
#define GS_CUDART_MANAGED_MEMORY_H

#include "gshare.h"

struct block; /* base/block_heap.h */

struct managed_memory {
    gs_devptr base;      /* page-aligned */
    struct block *block; /* its block in a slab; NULL: a separate allocation */
};

/* Allocates on the call's device. size: a multiple of `page`. */
gs_status managed_memory_alloc(size_t size, size_t page, struct managed_memory *memory);
/* Frees memory of the call's device. Waits for the work that uses it. */
gs_status managed_memory_free(const struct managed_memory *memory);
/* Forgets the slabs of the call's device, whose memory ends with its session. */
void managed_memory_forget(void);

#endif

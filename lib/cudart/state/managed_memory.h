/*
 * managed_memory.h - the device memory of managed memory: whole pages. A small piece lies with
 * others in a slab, so that devices with peer access can have it mapped: what the server allocates
 * below 1 MiB cannot be exported. Any thread.
 */
#ifndef GS_CUDART_MANAGED_MEMORY_H
#define GS_CUDART_MANAGED_MEMORY_H

#include "gshare.h"

struct block; /* base/block_heap.h */

struct managed_memory {
    gs_devptr base;      /* the beginning of a page */
    struct block *block; /* of a slab; NULL: an allocation of its own */
};

/* Allocates on the call's device; size: whole pages. */
gs_status managed_memory_alloc(size_t size, size_t page, struct managed_memory *memory);
/* The work that uses it is done, or is waited for. The call's device is the memory's. */
gs_status managed_memory_free(const struct managed_memory *memory);
/* The call's device is to be detached, and its memory goes with the session. */
void managed_memory_forget(void);

#endif

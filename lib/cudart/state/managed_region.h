/*
 * managed_region.h - the regions of managed memory (managed.h), which side holds each of their
 * blocks, and the lock that guards them all. Only managed.c and the other managed_*.c include it.
 */
#ifndef GS_CUDART_MANAGED_REGION_H
#define GS_CUDART_MANAGED_REGION_H

#include <stdbool.h>
#include <stddef.h>

#include "cudart/state/device.h"
#include "cudart/state/managed_advice.h"
#include "cudart/state/managed_memory.h"

/* The unit that moves: 2 MiB take 100 us over the bus, and a GiB takes 512 faults. */
#define MANAGED_BLOCK ((size_t)2 << 20)

struct region {
    struct region *next;
    char *base;                    /* its address for host and device; page-aligned */
    char *view;                    /* a second mapping of its pages, always open to the host */
    unsigned device;               /* the number of its owner */
    struct managed_memory memory;  /* base is 0: a module's variable */
    unsigned holder;               /* the device that has the blocks that the host does not have */
    gs_devptr copies[DEVICES_MAX]; /* for a variable: its address in other devices' modules */
    size_t size;                   /* whole pages */
    size_t used;                   /* bytes with device memory; for a variable, its own size */
    size_t blocks;
    struct managed_advice advice;
    bool host[]; /* for each block: the host has it */
};

/* While a thread holds the lock, the pager does not handle that thread's faults. The caller of the
 * functions below holds it, unless they say otherwise. */
void managed_lock(void);
void managed_unlock(void);

/* Returns the region after this one, or the first if `region` is NULL. NULL: there are no more. */
struct region *region_next(const struct region *region);
/* Returns the region that contains the address; NULL: there is none. */
struct region *region_find(const void *ptr);
/* Makes a region of the call's device, without pages and not in the list; free() releases it. NULL:
 * there is no memory. The caller need not hold the lock. */
struct region *region_new(size_t size, size_t page);
/* Maps the process's pages at both addresses. False: that failed. */
bool region_map(struct region *region);
void region_add(struct region *region);
/* Removes the region from the list and frees it. Its addresses stay reserved by the process. */
void region_remove(struct region *region);
/* Removes the region that begins at ptr. variable: it has to be a module's variable; otherwise it
 * has to be an allocation, and *memory is set to its device memory. False: there is none. Takes the
 * lock itself. */
bool region_end(const void *ptr, bool variable, struct managed_memory *memory);

/* Whether the region is a module's variable, not an allocation. */
static inline bool region_is_variable(const struct region *region)
{
    return region->memory.base == 0;
}

/* Returns the size of a block in bytes; the last one may be smaller than MANAGED_BLOCK. */
size_t region_block_size(const struct region *region, size_t block);
/* Moves blocks from the device to the host, or the other way. */
void region_give(struct region *region, size_t first, size_t count, bool to_host);
/* Whether the host has any block of any region. */
bool regions_have_host_blocks(void);

#endif

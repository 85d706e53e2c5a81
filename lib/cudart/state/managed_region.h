/*
 * managed_region.h - the regions of managed memory, whose blocks each are, and the lock that guards
 * them all (managed.h). For the other managed_*.c and managed.c alone.
 */
#ifndef GS_CUDART_MANAGED_REGION_H
#define GS_CUDART_MANAGED_REGION_H

#include <stdbool.h>
#include <stddef.h>

#include "cudart/state/device.h"
#include "cudart/state/managed_advice.h"
#include "cudart/state/managed_memory.h"

/* What moves at a time: 2 MiB are 100 us over the bus, and 512 faults for a GiB. */
#define MANAGED_BLOCK ((size_t)2 << 20)

struct region {
    struct region *next;
    char *base;                    /* where host and device reach it; the beginning of a page */
    char *view;                    /* the same pages, which the host can always reach here */
    unsigned device;               /* its number */
    struct managed_memory memory;  /* base is 0: a module's, which has a variable there */
    unsigned holder;               /* the device that has the blocks which are not the host's */
    gs_devptr copies[DEVICES_MAX]; /* of a variable, where other devices' modules have theirs */
    size_t size;                   /* whole pages */
    size_t used;                   /* of them, for which the device has memory: a variable's size */
    size_t blocks;
    struct managed_advice advice;
    bool host[]; /* whose each block is */
};

/* While the lock is held, the pager leaves the thread's own faults alone. All below need it, except
 * where it says otherwise. */
void managed_lock(void);
void managed_unlock(void);

/* The region after this one, NULL: the first. NULL: no more. */
struct region *region_next(const struct region *region);
/* The region that has the address; NULL: none. */
struct region *region_find(const void *ptr);
/* A region of the call's device, in no list and without pages. NULL: no memory. Without the lock;
 * free() ends it. */
struct region *region_new(size_t size, size_t page);
/* Maps the process's pages, at both addresses. */
bool region_map(struct region *region);
void region_add(struct region *region);
/* Takes the region out of the list and ends it; its addresses stay the process's. */
void region_remove(struct region *region);
/* Ends the region that begins at ptr. variable: whether it is one of a module's; else *memory is
 * what the region had. False: there is none. Takes the lock itself. */
bool region_end(const void *ptr, bool variable, struct managed_memory *memory);

/* A module's variable, not an allocation. */
static inline bool region_is_variable(const struct region *region)
{
    return region->memory.base == 0;
}

/* The bytes of a block: the last one may have fewer than MANAGED_BLOCK. */
size_t region_block_size(const struct region *region, size_t block);
/* Makes blocks the host's, or the device's. They were the other's. */
void region_give(struct region *region, size_t first, size_t count, bool to_host);
/* Whether any block of any region is the host's. */
bool regions_have_host_blocks(void);

#endif

/*
 * memory_map.h - the memory that the program allocated through this library, by address: for
 * cudaPointerGetAttributes, cudaHostGetFlags, and to tell kinds of pointers apart.
 */
#ifndef GS_CUDART_MEMORY_MAP_H
#define GS_CUDART_MEMORY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block; /* base/block_heap.h */

enum memory_kind {
    MEMORY_DEVICE,
    MEMORY_PINNED,     /* from gs_host_alloc; kernels reach it */
    MEMORY_REGISTERED, /* the program's own memory, registered */
    MEMORY_MAPPED,     /* mapped memory if kernels cannot reach pinned memory; see managed.h */
    MEMORY_MANAGED     /* likewise */
};

/* Flags of device memory that belongs to another process. */
#define MEMORY_OPENED   1u /* cudaIpcOpenMemHandle */
#define MEMORY_IMPORTED 2u /* cudaMemPoolImportPointer */

struct memory_range {
    uintptr_t base;
    size_t size;
    enum memory_kind kind;
    unsigned flags;      /* from cudaHostAlloc; MEMORY_OPENED ...; for a block, its pool */
    struct block *block; /* in a heap's arena (device_memory.h); NULL: a separate allocation */
    size_t offset;       /* for MEMORY_OPENED ...: its offset in the imported memory */
    unsigned device;     /* the number of the device whose session has it */
    unsigned joined;     /* bit mask, for pinned memory: devices that have joined it (pinned.h) */
    uint64_t id;         /* never the same as that of another range, also one that is freed */
};

/* Whether cudaPointerGetAttributes reports the range as host memory. */
static inline bool memory_is_host(const struct memory_range *range)
{
    return range->kind != MEMORY_DEVICE && range->kind != MEMORY_MANAGED;
}

/* Whether cudaIpcOpenMemHandle has opened the memory; then it is closed, never freed. */
static inline bool memory_is_opened(const struct memory_range *range)
{
    return range->kind == MEMORY_DEVICE && range->block == NULL && range->flags == MEMORY_OPENED;
}

/* Add a range of the call's device. False: there is no host memory for it. */
bool memory_map_add(const void *base, size_t size, enum memory_kind kind, unsigned flags);
bool memory_map_add_block(struct block *block, size_t size, unsigned pool);
bool memory_map_add_opened(const void *base, size_t size, unsigned flags, size_t offset);
/* Removes the range that begins at base. */
void memory_map_remove(const void *base);
/* As memory_map_remove, for a range that cudaFree accepts: neither host memory nor another
 * process's. Copies it to *taken. False: there is none. */
bool memory_map_take(const void *base, struct memory_range *taken);
/* Copies out the range that contains the address. */
bool memory_map_find(const void *address, struct memory_range *found);
/* Adds an arena: device memory that contains blocks and is one allocation to libgshare. */
bool memory_map_add_arena(uint64_t base, size_t size);
void memory_map_remove_arena(uint64_t base);
bool memory_map_in_arena(const void *address);
/* Whether the bytes of device memory at the address may be used, as far as this library knows: they
 * end within their block, or are in no arena. */
bool memory_map_allows(const void *address, size_t size);
/* The number of the device whose session has the memory at the address; -1: no device of the
 * process, as far as this library knows. */
int memory_map_device(const void *address);
/* Finds pinned memory of another device that the device has not joined, and marks it as joined: the
 * first range behind `from`, or the one at the address. False: there is none. */
bool memory_map_join_next(unsigned device, uintptr_t from, struct memory_range *found);
bool memory_map_join(const void *address, unsigned device, struct memory_range *found);
/* Marks the range as not joined by the device. */
void memory_map_unjoin(const struct memory_range *joined, unsigned device);
/* Removes a range of pinned memory of the device, and copies it out. False: there is none. */
bool memory_map_take_pinned(unsigned device, struct memory_range *taken);
/* Removes all ranges of a device, and all marks of ranges that it has joined. */
void memory_map_clear(unsigned device);

#endif

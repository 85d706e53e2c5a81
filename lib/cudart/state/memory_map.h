/*
 * memory_map.h - what the program allocated through this library, by address: for
 * cudaPointerGetAttributes, cudaHostGetFlags, and to tell pointers apart.
 */
#ifndef GS_CUDART_MEMORY_MAP_H
#define GS_CUDART_MEMORY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block; /* base/block_heap.h */

enum memory_kind {
    MEMORY_DEVICE,
    MEMORY_PINNED,     /* of gs_host_alloc, which kernels reach */
    MEMORY_REGISTERED, /* the program's own */
    MEMORY_MAPPED,     /* mapped, where kernels reach no pinned memory: see managed.h */
    MEMORY_MANAGED     /* likewise */
};

/* Flags of device memory that belongs to another process. */
#define MEMORY_OPENED   1u /* cudaIpcOpenMemHandle */
#define MEMORY_IMPORTED 2u /* cudaMemPoolImportPointer */

struct memory_range {
    uintptr_t base;
    size_t size;
    enum memory_kind kind;
    unsigned flags;      /* of cudaHostAlloc; MEMORY_OPENED ...; of a block, its pool */
    struct block *block; /* of a heap's arena (device_memory.h); NULL: memory of its own */
    size_t offset;       /* of MEMORY_OPENED ...: where it begins in what was imported */
    unsigned device;     /* the number of the device whose session has it */
    unsigned joined;     /* as bits, of pinned memory: devices that have joined it (pinned.h) */
    uint64_t id;         /* of no other range that the process has or had */
};

/* Whether cudaPointerGetAttributes tells the range as the host's. */
static inline bool memory_is_host(const struct memory_range *range)
{
    return range->kind != MEMORY_DEVICE && range->kind != MEMORY_MANAGED;
}

/* Whether cudaIpcOpenMemHandle has opened the memory: it is closed, never freed. */
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
/* The same for a range that cudaFree may have, neither the host's nor another process's, which it
 * copies out. False: there is none. */
bool memory_map_take(const void *base, struct memory_range *taken);
/* Copies out the range that the address lies in. */
bool memory_map_find(const void *address, struct memory_range *found);
/* Adds an arena: device memory in which blocks lie, one allocation to libgshare. */
bool memory_map_add_arena(uint64_t base, size_t size);
void memory_map_remove_arena(uint64_t base);
bool memory_map_in_arena(const void *address);
/* Whether device memory at the address may be used, as far as this library knows: it ends within
 * its block, or is of no arena. */
bool memory_map_allows(const void *address, size_t size);
/* The number of the device whose session has the memory at the address; -1: no device of the
 * process, as far as this library knows. */
int memory_map_device(const void *address);
/* Finds pinned memory of another device that the device has not joined, and notes that it has: the
 * first behind the address; or that at the address. False: there is none. */
bool memory_map_join_next(unsigned device, uintptr_t from, struct memory_range *found);
bool memory_map_join(const void *address, unsigned device, struct memory_range *found);
/* Notes that the device has not joined it. */
void memory_map_unjoin(const struct memory_range *joined, unsigned device);
/* Removes a range of pinned memory of the device, and copies it out. False: there is none. */
bool memory_map_take_pinned(unsigned device, struct memory_range *taken);
/* Removes all ranges of a device, and what it was to join. */
void memory_map_clear(unsigned device);

#endif

/*
 * memory_map.h - what the program allocated through this library, by address: for
 * cudaPointerGetAttributes, cudaHostGetFlags, and to tell pointers apart.
 */
#ifndef GS_CUDART_MEMORY_MAP_H
#define GS_CUDART_MEMORY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum memory_kind {
    MEMORY_DEVICE,
    MEMORY_PINNED,     /* of gs_host_alloc */
    MEMORY_REGISTERED, /* the program's own */
    MEMORY_MAPPED,     /* pinned, and for kernels too: see managed.h */
    MEMORY_MANAGED     /* likewise */
};

struct memory_range {
    uintptr_t base;
    size_t size;
    enum memory_kind kind;
    unsigned flags; /* of cudaHostAlloc */
};

/* Of the host, as cudaPointerGetAttributes has it. */
static inline bool memory_is_host(const struct memory_range *range)
{
    return range->kind != MEMORY_DEVICE && range->kind != MEMORY_MANAGED;
}

/* false: no memory. */
bool memory_map_add(const void *base, size_t size, enum memory_kind kind, unsigned flags);
/* Removes the range that begins there. */
void memory_map_remove(const void *base);
/* Copies out the range that the address lies in. */
bool memory_map_find(const void *address, struct memory_range *found);
void memory_map_clear(void);

#endif

/*
 * memory_map.h - what the program allocated through this library, by address: for
 * cudaPointerGetAttributes, cudaHostGetFlags, and to tell pointers apart.
 */
#ifndef GS_CUDART_MEMORY_MAP_H
#define GS_CUDART_MEMORY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_range {
    uintptr_t base;
    size_t size;
    bool host;
    unsigned flags; /* of cudaHostAlloc */
};

/* false: no memory. */
bool memory_map_add(const void *base, size_t size, bool host, unsigned flags);
/* Removes the range that begins there. */
void memory_map_remove(const void *base);
/* Copies out the range that the address lies in. */
bool memory_map_find(const void *address, struct memory_range *found);
void memory_map_clear(void);

#endif

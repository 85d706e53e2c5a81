/*
 * graph_memory.h - memory that graphs allocate and free by allocation nodes and free nodes.
 *
 * The address is known when the allocation node is made. So the memory exists from then on, until
 * no node refers to it and the program has freed it. Allocating and freeing only change whether the
 * memory is in use.
 */
#ifndef GS_CUDART_GRAPH_MEMORY_H
#define GS_CUDART_GRAPH_MEMORY_H

#include "cudart/abi.h"

struct graph_memory;

/* Allocates memory, with a hold for the caller. */
cudaError_t graph_memory_new(size_t size, struct graph_memory **out);
/* The memory that begins at ptr, with a hold for the caller; NULL: no graph has such memory. */
struct graph_memory *graph_memory_find(const void *ptr);
void graph_memory_hold(struct graph_memory *memory);
/* Releases a hold. The last release frees memory that is not in use, which waits for the session's
 * work. */
void graph_memory_release(struct graph_memory *memory);
void *graph_memory_at(const struct graph_memory *memory);
size_t graph_memory_size(const struct graph_memory *memory);
/* The number of its device. */
unsigned graph_memory_device(const struct graph_memory *memory);

/* Records that a launch allocates the memory. again: it may be in use already. */
cudaError_t graph_memory_alloc(struct graph_memory *memory, bool again);
cudaError_t graph_memory_free(struct graph_memory *memory);
/* Frees the memory at ptr, for cudaFree and cudaFreeAsync. False: it is not a graph's memory. */
bool graph_memory_free_at(const void *ptr, cudaError_t *error);

/* The figures for cudaDeviceGetGraphMemAttribute. */
struct graph_memory_figures {
    uint64_t used, used_high, reserved, reserved_high;
};
/* clear_...: resets that high-water mark. */
struct graph_memory_figures graph_memory_figures(bool clear_used, bool clear_reserved);

/* Forgets all of it, because the session is gone. */
void graph_memory_forget(void);

#endif

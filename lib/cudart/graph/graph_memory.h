/*
 * graph_memory.h - memory of graphs: what their allocation nodes allocate and their free nodes
 * free.
 *
 * The address of such memory is known when the node is made, so the memory exists from then on,
 * until no node names it any more and the program has freed it. Allocating and freeing change only
 * whether the memory is in use.
 */
#ifndef GS_CUDART_GRAPH_MEMORY_H
#define GS_CUDART_GRAPH_MEMORY_H

#include "cudart/abi.h"

struct graph_memory;

/* Allocates memory, which the caller holds. */
cudaError_t graph_memory_new(size_t size, struct graph_memory **out);
/* The memory that begins at ptr, which the caller then holds; NULL: no graph has such memory. */
struct graph_memory *graph_memory_find(const void *ptr);
void graph_memory_hold(struct graph_memory *memory);
/* Gives a hold up. The last one frees memory that is not in use, which waits for the session's
 * work. */
void graph_memory_release(struct graph_memory *memory);
void *graph_memory_at(const struct graph_memory *memory);
size_t graph_memory_size(const struct graph_memory *memory);
/* The number of its device. */
unsigned graph_memory_device(const struct graph_memory *memory);

/* Notes that a launch allocates the memory. again: also if the memory is in use already. */
cudaError_t graph_memory_alloc(struct graph_memory *memory, bool again);
cudaError_t graph_memory_free(struct graph_memory *memory);
/* Frees the memory at ptr for cudaFree and cudaFreeAsync. False: it is no graph's. */
bool graph_memory_free_at(const void *ptr, cudaError_t *error);

/* The figures of cudaDeviceGetGraphMemAttribute. */
struct graph_memory_figures {
    uint64_t used, used_high, reserved, reserved_high;
};
/* clear_...: that highest value begins anew. */
struct graph_memory_figures graph_memory_figures(bool clear_used, bool clear_reserved);

/* Forgets all of it, because the session is gone. */
void graph_memory_forget(void);

#endif

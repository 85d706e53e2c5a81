/*
 * graph_memory.h - memory of graphs: what their allocation nodes allocate and their free nodes
 * free.
 *
 * Its address is known when the node is made, so it is device memory from then on, until no node
 * names it any more and the program has freed it. Between a launch that allocates it and the free
 * it is in use, which is all that allocating and freeing change.
 */
#ifndef GS_CUDART_GRAPH_MEMORY_H
#define GS_CUDART_GRAPH_MEMORY_H

#include "cudart/abi.h"

struct graph_memory;

/* The caller holds it. */
cudaError_t graph_memory_new(size_t size, struct graph_memory **out);
/* The memory that begins there, which the caller holds then; NULL: none of a graph's. */
struct graph_memory *graph_memory_find(const void *ptr);
void graph_memory_hold(struct graph_memory *memory);
/* Waits for the session's work if this was the last, and nobody uses the memory. */
void graph_memory_drop(struct graph_memory *memory);
void *graph_memory_at(const struct graph_memory *memory);
size_t graph_memory_size(const struct graph_memory *memory);

/* A launch allocates it. again: also if it is in use. */
cudaError_t graph_memory_alloc(struct graph_memory *memory, bool again);
cudaError_t graph_memory_free(struct graph_memory *memory);
/* cudaFree and cudaFreeAsync. false: it is none of a graph's. */
bool graph_memory_free_at(const void *ptr, cudaError_t *error);

/* The figures of cudaDeviceGetGraphMemAttribute. */
struct graph_memory_figures {
    uint64_t used, used_high, reserved, reserved_high;
};
/* clear: the highest values begin anew. */
struct graph_memory_figures graph_memory_figures(bool clear_used, bool clear_reserved);

/* The session is gone, and the memory with it. */
void graph_memory_forget(void);

#endif

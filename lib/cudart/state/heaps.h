/*
 * heaps.h - device memory that the session got from the server and hands out in blocks, on the
 * call's device: for cudaMalloc up to a certain size, and for memory pools. Any thread.
 *
 * A pool has a heap for each stream that allocates from it. A block that is freed in its heap's own
 * stream can be reused there at once, since the new user's work comes after the former's. Another
 * stream can take it once the heap's stream is seen to be idle. A block that is freed in a stream
 * other than its heap's waits until that stream is idle. Streams that use the same ring (ring.h),
 * even one after the other, count as one stream here, since their work is ordered.
 */
#ifndef GS_CUDART_HEAPS_H
#define GS_CUDART_HEAPS_H

#include "cudart/base/block_heap.h"
#include "gshare.h"

struct ring;
struct stream;

/* Not a pool: the memory of cudaMalloc, which belongs to no stream. Its blocks are returned when
 * all work that may use them is done. */
#define HEAP_OF_MALLOC  0u
#define POOLS_MAX       1024u /* numbers of pools are from 1 to this */
/* Not a pool either: managed memory, which has no heap here (managed_memory.h). */
#define HEAP_OF_MANAGED (POOLS_MAX + 1)

/* Blocks of at least this size are separate allocations of the server, so that cudaIpcGetMemHandle
 * can share them. */
#define BLOCK_WHOLE ((size_t)1 << 20)

/* Takes a block of at least `size` bytes for the stream (NULL for HEAP_OF_MALLOC). If the pool has
 * none, it gets memory from the server. */
gs_status heaps_take(unsigned pool, struct stream *stream, size_t size, struct block **block);
/* Returns a block once the stream's work so far is done. NULL: all work that may use the block is
 * done. */
gs_status heaps_give(struct block *block, struct stream *stream);
/* Records that other processes have the block's arena, so that it is not kept once it is unused.
 * Returns the arena's address. */
uint64_t heaps_share(const struct block *block);
size_t heaps_held(unsigned pool);
/* The bytes that cudaMalloc keeps for later calls, and the most that it may keep. */
size_t heaps_spare(void);
size_t heaps_spare_most(void);
/* Returns unused memory of the pool to the server until the pool has at most `kept` bytes. Waits
 * for the session's work. */
gs_status heaps_trim(unsigned pool, size_t kept);
/* Returns all unused memory. False: there was none. */
bool heaps_give_all(void);
/* Returns the blocks that wait for a ring which has ended, with its work. */
void heaps_ring_ended(const struct ring *ring);
/* Forgets all heaps, because the session ends. */
void heaps_forget(void);

#endif

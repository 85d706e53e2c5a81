/*
 * heaps.h - device memory that the session has from the server and hands out in blocks: of
 * cudaMalloc up to a size, and of memory pools; of the call's device. Any thread.
 *
 * A pool has a heap for each stream that allocates from it. A block that is freed in its heap's
 * stream can be taken in that stream at once, since what uses it then comes after what used it
 * before. In another stream it can be taken when its stream is seen to be idle. A block that is
 * freed in another stream than its heap's waits until that one is idle. Streams that share a ring
 * (ring.h), one after the other too, are one stream here, since their work has an order.
 */
#ifndef GS_CUDART_HEAPS_H
#define GS_CUDART_HEAPS_H

#include "cudart/base/block_heap.h"
#include "gshare.h"

struct ring;
struct stream;

/* Not a pool, but cudaMalloc's memory, which is of no stream: blocks are given back when all work
 * that may use them is done. */
#define HEAP_OF_MALLOC  0u
#define POOLS_MAX       1024u /* numbers of pools are from 1 to this */
/* Nor a pool: managed memory, which has no heap here (managed_memory.h). */
#define HEAP_OF_MANAGED (POOLS_MAX + 1)

/* Blocks from this size on are allocations of the server's, so that cudaIpcGetMemHandle can share
 * them. */
#define BLOCK_WHOLE ((size_t)1 << 20)

/* Takes a block of `size` bytes or more for the stream (NULL with HEAP_OF_MALLOC). Where the pool
 * has none, it gets memory from the server. */
gs_status heaps_take(unsigned pool, struct stream *stream, size_t size, struct block **block);
/* Gives a block back behind the stream's work so far; NULL: all work that may use it is done. */
gs_status heaps_give(struct block *block, struct stream *stream);
/* Notes that other processes have the block's arena, so that it is not kept once it is empty.
 * Returns where the arena begins. */
uint64_t heaps_share(const struct block *block);
size_t heaps_held(unsigned pool);
/* The bytes that cudaMalloc keeps for its next calls, and the most that it may keep. */
size_t heaps_spare(void);
size_t heaps_spare_most(void);
/* Gives memory that the pool does not use back to the server, until the pool has `kept` bytes or
 * less. Waits for the session's work. */
gs_status heaps_trim(unsigned pool, size_t kept);
/* Gives back all that no heap uses. False: there was nothing. */
bool heaps_give_all(void);
/* Gives the blocks back that wait for a ring which has ended, and its work with it. */
void heaps_ring_ended(const struct ring *ring);
/* Forgets all heaps, because the session ends. */
void heaps_forget(void);

#endif

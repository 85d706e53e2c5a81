/*
 * block_heap.h - hands out blocks of device memory, and takes them back. A heap only knows
 * addresses: it does not access the memory, and does not ask the server for more. Its owner locks
 * it.
 *
 * An arena is one allocation of the server. A slab is an arena that is divided into blocks; a whole
 * arena is a single block, for sizes that a slab cannot have. A free block of a slab is merged with
 * free neighbours and kept in a list of blocks of similar size (two-level segregated fit, Masmano
 * et al. 2004), so taking and returning a block take constant time.
 */
#ifndef GS_CUDART_BLOCK_HEAP_H
#define GS_CUDART_BLOCK_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_ALIGN ((size_t)512) /* alignment of addresses and sizes; cudaMalloc promises 256 */
#define SLAB_SIZE   ((size_t)2 << 20)
/* No block begins where its slab does, so that gs_free refuses a block's address. */
#define SLAB_HEAD   BLOCK_ALIGN
#define BLOCK_BINS  48

struct block;

struct arena {
    struct block_heap *heap;
    struct arena *previous, *next; /* of the heap */
    uint64_t base;
    size_t size;
    bool whole;
    bool shared; /* set by the owner: other processes have it, too, so it must not be reused */
    size_t out;  /* number of blocks in use */
    struct block *first;
};

struct block {
    struct arena *arena;
    uint64_t base;
    size_t size;
    bool out;
    struct block *before, *after;  /* its neighbours in the arena */
    struct block *previous, *next; /* list: in its bin while free; else its owner's */
    const void *order;             /* its owner's */
};

struct block_heap {
    struct block *bins[BLOCK_BINS]; /* free blocks of slabs, by size */
    uint64_t filled;                /* bit mask of bins that are not empty */
    struct block *wholes;           /* list of free whole blocks */
    struct arena *arenas;
    size_t held;  /* bytes of all arenas */
    size_t empty; /* bytes of the arenas without blocks in use */
};

static inline size_t block_size_of(size_t size)
{
    return (size + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
}

/* Takes a block of at least the size, a multiple of BLOCK_ALIGN: from a slab or, if `whole`, a
 * whole block of at most `most` bytes. NULL: the heap has none. */
struct block *block_heap_take(struct block_heap *heap, size_t size, bool whole, size_t most);
/* Returns a block. */
void block_heap_give(struct block *block);
/* Adds an arena, all of it free. NULL: no host memory. */
struct arena *block_heap_add(struct block_heap *heap, uint64_t base, size_t size, bool whole);
/* The oldest arena without blocks in use; NULL: there is none. */
struct arena *block_heap_empty(struct block_heap *heap);
/* Removes an arena without blocks in use. */
void block_heap_remove(struct arena *arena);
/* Removes all arenas, even if blocks are in use. */
void block_heap_deinit(struct block_heap *heap);

#endif

/*
 * block_heap.h - hands out blocks of the device memory that it was given, and takes them back. A
 * heap knows addresses only: it neither reads the memory nor asks the server for any. Its owner
 * locks it.
 *
 * What the server allocates at a time is an arena. A slab is an arena that is divided into blocks;
 * a whole arena is one block, for sizes that a slab cannot have. A free block of a slab is merged
 * with its free neighbours, and stands in a list of blocks of about its size (two-level segregated
 * fit, Masmano et al. 2004), so that taking and giving back take the same time for any number of
 * blocks.
 */
#ifndef GS_CUDART_BLOCK_HEAP_H
#define GS_CUDART_BLOCK_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_ALIGN ((size_t)512) /* of addresses and sizes; cudaMalloc promises 256 */
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
    bool shared; /* its owner's: others have it too, so it is not to be given out again */
    size_t out;  /* blocks that are given out */
    struct block *first;
};

struct block {
    struct arena *arena;
    uint64_t base;
    size_t size;
    bool out;
    struct block *before, *after;  /* its neighbours in the arena */
    struct block *previous, *next; /* while it is free: in its bin; else its owner's */
    const void *order;             /* its owner's */
};

struct block_heap {
    struct block *bins[BLOCK_BINS]; /* free blocks of slabs, by size */
    uint64_t filled;                /* bits: bins that are not empty */
    struct block *wholes;           /* free whole blocks */
    struct arena *arenas;
    size_t held;  /* bytes of all arenas */
    size_t empty; /* of those of which nothing is out */
};

static inline size_t block_size_of(size_t size)
{
    return (size + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
}

/* Takes a block of at least the size, a multiple of BLOCK_ALIGN: of a slab, or, where whole is set,
 * a whole one of at most `most` bytes. NULL: the heap has none. */
struct block *block_heap_take(struct block_heap *heap, size_t size, bool whole, size_t most);
/* Gives a block back. */
void block_heap_give(struct block *block);
/* Adds an arena, all of it free. NULL: no host memory. */
struct arena *block_heap_add(struct block_heap *heap, uint64_t base, size_t size, bool whole);
/* The arena that was added first of those of which nothing is out; NULL: there is none. */
struct arena *block_heap_empty(struct block_heap *heap);
/* Removes an arena of which nothing is out. */
void block_heap_remove(struct arena *arena);
/* Removes all arenas, whatever is out. */
void block_heap_deinit(struct block_heap *heap);

#endif

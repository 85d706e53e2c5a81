/* block_heap.c - see block_heap.h. */
#include "cudart/base/block_heap.h"

#include <stdlib.h>

#define TRIES 8 /* blocks examined in a bin that may also have blocks that are too small */

/* ---- Bins: four for each power of two -------------------------------------------------------- */

/* The bin for a block of that many BLOCK_ALIGN units, at least 1. */
static unsigned bin_of(size_t units)
{
    unsigned log = 63 - (unsigned)__builtin_clzll(units);

    return log < 2 ? (unsigned)units - 1 : 3 + (log - 2) * 4 + (unsigned)(units >> (log - 2) & 3);
}

static void list_insert(struct block **list, struct block *block)
{
    block->previous = NULL;
    block->next = *list;
    if (*list != NULL)
        (*list)->previous = block;
    *list = block;
}

static void list_remove(struct block **list, struct block *block)
{
    if (block->next != NULL)
        block->next->previous = block->previous;
    if (block->previous != NULL)
        block->previous->next = block->next;
    else
        *list = block->next;
}

static void free_insert(struct block *block)
{
    struct block_heap *heap = block->arena->heap;
    unsigned bin;

    block->out = false;
    if (block->arena->whole) {
        list_insert(&heap->wholes, block);
        return;
    }
    bin = bin_of(block->size / BLOCK_ALIGN);
    list_insert(&heap->bins[bin], block);
    heap->filled |= UINT64_C(1) << bin;
}

static void free_remove(struct block *block)
{
    struct block_heap *heap = block->arena->heap;
    unsigned bin;

    if (block->arena->whole) {
        list_remove(&heap->wholes, block);
        return;
    }
    bin = bin_of(block->size / BLOCK_ALIGN);
    list_remove(&heap->bins[bin], block);
    if (heap->bins[bin] == NULL)
        heap->filled &= ~(UINT64_C(1) << bin);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static struct block *find_in_slabs(const struct block_heap *heap, size_t size)
{
    size_t units = size / BLOCK_ALIGN;
    unsigned bin = bin_of(units);
    struct block *block = heap->bins[bin];
    uint64_t larger;

    for (int i = 0; i < TRIES && block != NULL; i++, block = block->next) {
        if (block->size >= size)
            return block;
    }
    larger = heap->filled & ~UINT64_C(0) << bin << 1;
    return larger != 0 ? heap->bins[__builtin_ctzll(larger)] : NULL;
}

static struct block *find_whole(const struct block_heap *heap, size_t size, size_t most)
{
    struct block *best = NULL;

    for (struct block *block = heap->wholes; block != NULL; block = block->next) {
        if (block->size >= size && block->size <= most &&
            (best == NULL || block->size < best->size))
            best = block;
    }
    return best;
}

/* Splits off the part of the block beyond the size, as a free block. Without host memory the block
 * stays as it is. */
static void block_split(struct block *block, size_t size)
{
    struct block *rest = block->size > size ? malloc(sizeof(*rest)) : NULL;

    if (rest == NULL)
        return;
    *rest = (struct block){.arena = block->arena,
                           .base = block->base + size,
                           .size = block->size - size,
                           .before = block,
                           .after = block->after};
    if (block->after != NULL)
        block->after->before = rest;
    block->after = rest;
    block->size = size;
    free_insert(rest);
}

struct block *block_heap_take(struct block_heap *heap, size_t size, bool whole, size_t most)
{
    struct block *block = whole ? find_whole(heap, size, most) : find_in_slabs(heap, size);

    if (block == NULL)
        return NULL;
    free_remove(block);
    block->out = true;
    if (!whole)
        block_split(block, size);
    if (block->arena->out++ == 0)
        heap->empty -= block->arena->size;
    return block;
}

/* Merges the block with the one after it. */
static void block_merge(struct block *block)
{
    struct block *after = block->after;

    block->size += after->size;
    block->after = after->after;
    if (after->after != NULL)
        after->after->before = block;
    free(after);
}

void block_heap_give(struct block *block)
{
    struct arena *arena = block->arena;

    if (block->after != NULL && !block->after->out) {
        free_remove(block->after);
        block_merge(block);
    }
    if (block->before != NULL && !block->before->out) {
        block = block->before;
        free_remove(block);
        block_merge(block);
    }
    free_insert(block);
    if (--arena->out == 0)
        arena->heap->empty += arena->size;
}

/* ---- Arenas ---------------------------------------------------------------------------------- */

struct arena *block_heap_add(struct block_heap *heap, uint64_t base, size_t size, bool whole)
{
    struct arena *arena = malloc(sizeof(*arena));
    struct block *block = malloc(sizeof(*block));
    size_t head = whole ? 0 : SLAB_HEAD;

    if (arena == NULL || block == NULL) {
        free(arena);
        free(block);
        return NULL;
    }
    *arena = (struct arena){.heap = heap,
                            .next = heap->arenas,
                            .base = base,
                            .size = size,
                            .whole = whole,
                            .first = block};
    *block = (struct block){.arena = arena, .base = base + head, .size = size - head};
    if (heap->arenas != NULL)
        heap->arenas->previous = arena;
    heap->arenas = arena;
    heap->held += size;
    heap->empty += size;
    free_insert(block);
    return arena;
}

struct arena *block_heap_empty(struct block_heap *heap)
{
    struct arena *empty = NULL;

    for (struct arena *arena = heap->empty != 0 ? heap->arenas : NULL; arena != NULL;
         arena = arena->next) {
        if (arena->out == 0)
            empty = arena;
    }
    return empty;
}

void block_heap_remove(struct arena *arena)
{
    struct block_heap *heap = arena->heap;

    free_remove(arena->first);
    heap->held -= arena->size;
    heap->empty -= arena->size;
    if (arena->next != NULL)
        arena->next->previous = arena->previous;
    if (arena->previous != NULL)
        arena->previous->next = arena->next;
    else
        heap->arenas = arena->next;
    free(arena->first);
    free(arena);
}

void block_heap_deinit(struct block_heap *heap)
{
    for (struct arena *arena = heap->arenas, *next; arena != NULL; arena = next) {
        next = arena->next;
        for (struct block *block = arena->first, *after; block != NULL; block = after) {
            after = block->after;
            free(block);
        }
        free(arena);
    }
    *heap = (struct block_heap){0};
}

/*
 * warm_heap.c - touches a thread's heap before the driver needs it.
 *
 * To make a green context, the driver allocates 1.6 MiB of host memory in thousands of pieces.
 * Measured beside an H200: making one takes 1.0 to 1.6 ms when each of the 400 pages has to be
 * faulted in, and 0.5 to 0.8 ms when the pages are there. So the thread that makes green contexts
 * keeps some of its heap faulted in while it is idle: it allocates a block, touches the block's
 * pages, and frees it. For this, malloc may neither give the block back to the kernel nor take
 * blocks of that size from elsewhere. Huge pages are used where the kernel has any: one takes 0.3
 * ms, the same memory in small pages 0.8 ms.
 *
 * The pages are touched by hand, not by MADV_POPULATE_WRITE. That call holds the lock that a launch
 * needs when the driver maps memory for it; taken again and again, it made launches wait for 5 ms.
 *
 * malloc alone decides which memory it hands out next, so nothing is guaranteed: pages from
 * elsewhere are faulted in as usual. With glibc that is the case for two contexts in forty, where a
 * heap ends and another one begins.
 */
#include "worker/driver/warm_heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE  (2u << 20)
#define LEAST      (4u << 20)  /* the least heap to keep touched: two green contexts */
#define STEP       (16u << 20) /* what is touched at a time when less than that is left */
/* the size of a block that malloc places where those of a green context will be */
#define PROBE      (256u << 10)
/* malloc's limit, from which on a block does not come from the heap */
#define MMAP_LEAST (32u << 20)
/* free memory kept at the heap's end; the kernel gets the rest back */
#define KEPT_MOST  (64u << 20)

/* The block that this thread touches: touched up to `end`, to be touched up to `goal`. */
static _Thread_local struct {
    uintptr_t start, end, goal;
} warm;

void warm_heap_init(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, MMAP_LEAST);
    mallopt(M_TRIM_THRESHOLD, KEPT_MOST);
#endif
}

/* Allocates a block whose address the compiler must not reason about. Compilers assume that what
 * malloc returns differs from every other block, freed ones included: clang removes an allocation
 * of which only the address is used. */
static void *block_new(size_t size)
{
    void *volatile block = malloc(size);

    return block;
}

/* The address at which the next block of a green context's size will be; 0: no memory. malloc
 * writes behind each block, and a page that malloc has written to can no longer become part of a
 * huge page. So the probe is small, and mostly ends within the part that is touched already. */
static uintptr_t next_block(void)
{
    void *block = block_new(PROBE);
    uintptr_t at = (uintptr_t)block;

    free(block);
    return at;
}

/* A block that begins at `at`: the rest of the last block, or a new one as large as there is room
 * for. NULL: no block there is large enough to be worth it. */
static void *block_at(uintptr_t at)
{
    size_t left = at >= warm.start && at < warm.goal ? warm.goal - at : 0;

    for (size_t size = left > LEAST ? left : STEP; size >= LEAST; size /= 2) {
        void *block = block_new(size);
        if ((uintptr_t)block == at) {
            warm.goal = at + size;
            return block;
        }
        free(block);
    }
    return NULL;
}

void warm_heap_fill(bool (*wanted)(void))
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = next_block();

    if (at >= warm.start && at + LEAST <= warm.end)
        return;
    void *block = block_at(at);
    if (!block)
        return;
    uintptr_t whole = (at + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t end = warm.goal / HUGE_PAGE * HUGE_PAGE; /* what lies beyond cannot be a huge page */

    madvise((void *)whole, end - whole, MADV_HUGEPAGE); /* only advice: a failure does no harm */
    warm.start = at;
    for (warm.end = at; warm.end < end && !wanted(); warm.end += page)
        *(volatile char *)warm.end = 0;
    free(block);
}

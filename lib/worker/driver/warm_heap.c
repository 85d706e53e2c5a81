/*
 * warm_heap.c - a thread's heap is touched before the driver needs it.
 *
 * Making a green context, the driver allocates 1.6 MiB of host memory in thousands of pieces.
 * Measured beside an H200: when each of the 400 pages has to be faulted in, it takes 1.0 to 1.6 ms;
 * when they are there already, 0.5 to 0.8. So the thread that makes them keeps some ahead of it
 * while it has nothing to do: it allocates a block, touches it, and frees it; and malloc may
 * neither give it back to the kernel nor take blocks of that size from elsewhere. In huge pages,
 * where the kernel has any: one takes 0.3 ms, the same memory in small ones 0.8.
 *
 * By hand, not by MADV_POPULATE_WRITE: that holds the lock that a launch needs when the driver maps
 * something for it, and taken again and again it let launches wait for 5 ms.
 *
 * Which memory malloc hands out next is its own affair, so this is help, not a promise: what comes
 * from elsewhere is faulted in as ever. With glibc that is two contexts in forty, where a heap ends
 * and another one begins.
 */
#include "worker/driver/warm_heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE  (2u << 20)
#define LEAST      (4u << 20)   /* is to be there, of the next allocation: two green contexts */
#define STEP       (16u << 20)  /* else so much is touched */
#define PROBE      (256u << 10) /* a block that comes from where those of a green context will */
#define MMAP_LEAST (32u << 20)  /* a block as large as that is not of the heap; malloc's limit */
#define KEPT_MOST  (64u << 20)  /* free at the heap's end; the kernel has the rest back */

/* What this thread touches: up to `end` it has, up to `goal` it is to. */
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

/* Compilers know that what malloc returns is no other block, not that it may be a former one's
 * place: clang leaves out a block that is only asked where it is. */
static void *block_new(size_t size)
{
    void *volatile block = malloc(size);

    return block;
}

/* Where the next block of a green context's size will be; 0: no memory. Malloc writes behind each
 * block, and a page that it has written to can be no part of a huge one any more. So this one is
 * small: mostly it ends where all is touched. */
static uintptr_t next_block(void)
{
    void *block = block_new(PROBE);
    uintptr_t at = (uintptr_t)block;

    free(block);
    return at;
}

/* A block from there on: what is left of the last one, or as large as there is room for. NULL: none
 * that would be worth it. */
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
    uintptr_t end = warm.goal / HUGE_PAGE * HUGE_PAGE; /* the rest can be no huge page */

    madvise((void *)whole, end - whole, MADV_HUGEPAGE); /* a wish */
    warm.start = at;
    for (warm.end = at; warm.end < end && !wanted(); warm.end += page)
        *(volatile char *)warm.end = 0;
    free(block);
}

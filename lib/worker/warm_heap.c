/*
 * warm_heap.c - a thread's heap is touched before the driver needs it.
 *
 * Making a green context, the driver allocates 1.6 MiB of host memory in thousands of pieces.
 * Measured beside an H200: when each of the 400 pages has to be faulted in, it takes 1.0 to 1.6 ms;
 * when they are there already, 0.5 to 0.8. So the thread that makes them keeps some ahead of it
 * while it has nothing to do: it allocates a block, touches it, and frees it; and malloc may
 * neither give it back to the kernel nor take blocks of that size from elsewhere.
 *
 * By hand, not by MADV_POPULATE_WRITE: that holds the lock that a launch needs when the driver maps
 * something for it, and taken again and again it let launches wait for 5 ms. And not in huge pages:
 * malloc's own words behind the block are written before the page that they are in could be one.
 *
 * Which memory malloc hands out next is its own affair, so this is help, not a promise: what comes
 * from elsewhere is faulted in as ever.
 */
#include "worker/warm_heap.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#define AHEAD      (8u << 20)  /* of the next allocation: five green contexts */
#define MMAP_LEAST (32u << 20) /* a block as large as that is not of the heap; malloc's limit */
#define KEPT_MOST  (64u << 20) /* free at the heap's end; the kernel has the rest back */

void warm_heap_init(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, MMAP_LEAST);
    mallopt(M_TRIM_THRESHOLD, KEPT_MOST);
#endif
}

void warm_heap_fill(bool (*wanted)(void))
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile char *block = malloc(AHEAD);

    if (!block)
        return;
    for (size_t at = 0; at < AHEAD && !wanted(); at += page)
        block[at] = 0;
    free((void *)block);
}

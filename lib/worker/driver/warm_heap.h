/*
 * warm_heap.h - faults in the pages of a thread's heap before its next driver call needs them; see
 * warm_heap.c.
 */
#ifndef GS_WORKER_DRIVER_WARM_HEAP_H
#define GS_WORKER_DRIVER_WARM_HEAP_H

#include <stdbool.h>

/* From now on, memory that is given back to malloc stays with the process. Called at the worker's
 * start, before there are threads. */
void warm_heap_init(void);
/* Faults in pages, so that the next few megabytes that the calling thread allocates touch no new
 * page. Takes as long as the kernel needs for the missing pages, some 0.2 ms a MiB. Calls `wanted`
 * before each page and ends early once it returns true. */
void warm_heap_fill(bool (*wanted)(void));

#endif

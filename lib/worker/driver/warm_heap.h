/* warm_heap.h - memory that a thread's next driver call need not fault in; see warm_heap.c. */
#ifndef GS_WORKER_DRIVER_WARM_HEAP_H
#define GS_WORKER_DRIVER_WARM_HEAP_H

#include <stdbool.h>

/* What malloc has been given back stays with the process from now on. At the worker's start, before
 * there are threads. */
void warm_heap_init(void);
/* Until the calling thread has allocated some megabytes more, its allocations touch no new page.
 * Takes as long as the kernel does for the pages that are missing, some 0.2 ms a MiB; ends early
 * once `wanted` says true, which is asked before each page. */
void warm_heap_fill(bool (*wanted)(void));

#endif

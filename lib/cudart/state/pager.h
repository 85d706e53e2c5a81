/* pager.h - the faults of the host's threads: a handler of SIGSEGV, and the thread that it asks. */
#ifndef GS_CUDART_PAGER_H
#define GS_CUDART_PAGER_H

#include <stdbool.h>

/* Called in the pager's thread. Returns whether the access can be tried again. */
typedef bool (*pager_resolve_t)(const void *address);
/* Called before that in the handler of the thread that faults, when the access is a write. Returns
 * the same. The thread may have any lock. */
typedef bool (*pager_wait_t)(const void *address);

/* Starts the pager, once in a process, and has it ask these functions from now on. NULL: none more.
 * False: the pager cannot be started. */
bool pager_start(pager_resolve_t resolve, pager_wait_t wait);
/* Between these two calls the pager leaves the calling thread's own faults alone: it would wait for
 * a lock that the thread has. */
void pager_exclude_begin(void);
void pager_exclude_end(void);

#endif

/* pager.h - page faults of host threads: a SIGSEGV handler, and a thread, the pager, that resolves
 * the faults. */
#ifndef GS_CUDART_PAGER_H
#define GS_CUDART_PAGER_H

#include <stdbool.h>

/* Called in the pager's thread. Returns whether the access can be retried. */
typedef bool (*pager_resolve_t)(const void *address);
/* Called before that, in the handler of the faulting thread, if the access is a write. Returns
 * whether the access can be retried. The thread may hold any lock. */
typedef bool (*pager_wait_t)(const void *address);

/* Starts the pager, once in a process; it calls these functions from now on. NULL: it calls none.
 * False: the pager cannot be started. */
bool pager_start(pager_resolve_t resolve, pager_wait_t wait);
/* Between these two calls the pager ignores the calling thread's faults: resolving them would need
 * a lock that the thread holds. */
void pager_exclude_begin(void);
void pager_exclude_end(void);

#endif

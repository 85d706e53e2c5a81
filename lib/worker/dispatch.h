/*
 * dispatch.h - the main lane's loop; see dispatch.c.
 *
 *   dispatch.c  the loop: sleeping, waking, watching the device
 *   turn.c      what each session that is polled does in a turn
 *   route.c     where jobs go
 *   blame.c     the end of the context
 */
#ifndef GS_WORKER_DISPATCH_H
#define GS_WORKER_DISPATCH_H

#include "worker/worker.h"

/* Before any job is pushed. */
bool dispatch_start(void);
/* How the device is scheduled from the main lane's next turn on. Control thread. */
void dispatch_policy(const struct link_policy *policy);
#endif

/*
 * dispatch.h - the dispatcher's loop, and what its parts share. The dispatcher's own, but where it
 * says otherwise.
 *
 *   dispatch.c  the loop: sleeping, waking, watching the device
 *   turn.c      what each session that is polled does in a turn
 *   roster.c    which sessions there are, which are polled, the doorbell
 *   route.c     where jobs go
 *   blame.c     the end of the context
 */
#ifndef GS_WORKER_DISPATCH_H
#define GS_WORKER_DISPATCH_H

#include "worker/worker.h"

struct dispatch {
    uint64_t now; /* clock_ns() when this turn began */
    bool busy;    /* some stream may have unfinished work */
    bool live;    /* some session that is polled is not just waiting for the device */
};
extern struct dispatch dispatch;

/* Before any job is pushed. */
bool dispatch_start(void);
/* How the device is scheduled from the dispatcher's next turn on. Control thread. */
void dispatch_policy(const struct link_policy *policy);
/* Ends its sleep. Any thread, after what the dispatcher is to see. */
void dispatch_wake(void);

#endif

/*
 * loop.h - the main lane's loop; see loop.c.
 *
 *   loop.c  the loop: sleeping, waking, watching the device
 *   round.c      what each session that is polled does in a round
 *   route.c     where jobs go
 *   blame.c     the end of the context
 */
#ifndef GS_WORKER_LOOP_LOOP_H
#define GS_WORKER_LOOP_LOOP_H

#include "worker/session_parts.h"

/* Before any job is pushed. */
bool loop_start(void);
/* How the device is scheduled from the main lane's next round on. Control thread. */
void loop_policy(const struct link_policy *policy);
#endif

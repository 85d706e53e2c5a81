/* turn.h - a turn of the sessions that are polled; see turn.c. Dispatcher. */
#ifndef GS_WORKER_TURN_H
#define GS_WORKER_TURN_H

#include "worker/worker.h"

/* Before the first turn. */
void turn_init(void);
/* Takes requests and records from all that are polled. */
void turn_take(void);
/* How long the thread may sleep when all of them wait for the device. */
uint64_t turn_nap(void);
/* The session whose records are being issued; NULL: none. */
const struct session *turn_draining(void);

/* worker.policy is another. */
void turn_policy(void);
/* What is to be kept free for latency work. */
uint32_t turn_reserve(void);
/* The session is polled no more. */
void turn_leave(struct session *session);
/* Do several tenants wait for the dispatcher at this moment? */
bool turn_crowded(void);

#endif

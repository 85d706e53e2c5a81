/* turn.h - a turn of the sessions that are polled; see turn.c. Dispatcher. */
#ifndef GS_WORKER_TURN_H
#define GS_WORKER_TURN_H

#include "worker/worker.h"

struct lane;

/* Before the first turn. */
void turn_init(void);
/* Takes requests and records from all that the lane polls. */
void turn_take(struct lane *lane);
/* How long the thread may sleep when all of them wait for the device. */
uint64_t turn_nap(const struct lane *lane);

/* worker.policy is another. */
void turn_policy(struct lane *lane);

#endif

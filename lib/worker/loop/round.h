/*
 * round.h - a scheduling round: what the main lane does with all sessions that it polls; see
 * round.c. The main lane.
 */
#ifndef GS_WORKER_LOOP_ROUND_H
#define GS_WORKER_LOOP_ROUND_H

#include <stdint.h>

struct lane;

/* Called before the first round. */
void round_init(void);
/* Runs one round: takes requests and records from all sessions that the lane polls. */
void round_run(struct lane *lane);
/* How long the thread may sleep when all polled sessions wait for the device. */
uint64_t round_nap(const struct lane *lane);

/* Takes note of a new worker->policy. */
void round_policy(struct lane *lane);

#endif

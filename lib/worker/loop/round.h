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
/* A round has two passes. The first takes what has ended on the device, and what the tenants of all
 * sessions that the lane polls have announced. */
void round_look(struct lane *lane);
/* The second takes requests and records from the sessions, those of a higher class first. */
void round_serve(struct lane *lane);
/* How long the thread may sleep when all polled sessions wait for the device. */
uint64_t round_nap(const struct lane *lane);

/* Takes note of a new worker->policy. */
void round_policy(struct lane *lane);

#endif

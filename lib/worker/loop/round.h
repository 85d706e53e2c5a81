/*
 * round.h - a scheduling round: one pass of the main lane over all sessions that it polls; see
 * round.c. Called by the main lane.
 */
#ifndef GS_WORKER_LOOP_ROUND_H
#define GS_WORKER_LOOP_ROUND_H

#include <stdint.h>

struct lane;

/* Sets the polling times from the number of CPUs. Called once, before the first round. */
void round_init(void);
/* Does the first of a round's two passes: accounts for work that has ended on the device, and takes
 * the activity words that the tenants have set. */
void round_look(struct lane *lane);
/* Does the second pass: takes requests and records from the sessions, higher classes first. */
void round_serve(struct lane *lane);
/* Returns for how many nanoseconds the thread may sleep when all polled sessions wait for the
 * device. */
uint64_t round_nap(const struct lane *lane);

/* Updates the lane after worker->policy has changed. */
void round_policy(struct lane *lane);

#endif

/*
 * round.h - a scheduling round: what a lane does with all sessions that it polls; see round.c. Main
 * lane, except where a comment says otherwise.
 */
#ifndef GS_WORKER_LOOP_ROUND_H
#define GS_WORKER_LOOP_ROUND_H

#include "worker/submit/drain.h"

struct lane;

/* Called before the first round. */
void round_init(void);
/* Runs one round: takes requests and records from all sessions that the lane polls. */
void round_run(struct lane *lane);
/* Takes what the session's tenant has announced, and fetches ahead what is read next. The session's
 * lane. */
void round_look(struct session *session);
/* How much the stream may give to the device now. The session's lane. */
struct sched_allowance round_allowance(const struct session *session, uint32_t index);
/* Drains one of the session's streams by an allowance, and returns how many records were taken. The
 * session's lane. */
uint32_t round_drain(struct session *session, uint32_t index, struct sched_allowance allowance,
                     enum drained *drained);
/* Notes the records that have come in streams which were not drained in this round: from now on
 * they wait. The session's lane. */
void round_seen(struct session *session);
/* Notes that the device has just been given work of the session. The session's lane. */
void round_given(struct session *session);
/* How long the thread may sleep when all polled sessions wait for the device. */
uint64_t round_nap(const struct lane *lane);

/* Takes note of a new worker->policy. */
void round_policy(struct lane *lane);

#endif

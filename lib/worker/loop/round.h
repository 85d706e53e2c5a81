/* round.h - a round of the sessions that are polled; see round.c. Dispatcher. */
#ifndef GS_WORKER_LOOP_ROUND_H
#define GS_WORKER_LOOP_ROUND_H

#include "worker/session_parts.h"

struct lane;

/* Before the first round. */
void round_init(void);
/* Takes requests and records from all that the lane polls. */
void round_run(struct lane *lane);
/* Takes what the session's tenant has announced, and fetches ahead what is read next. Its lane. */
void round_look(struct session *session);
/* What may go to the device of one of the session's streams now. Its lane. */
struct sched_allowance round_allowance(const struct session *session, uint32_t index);
/* How long the thread may sleep when all of them wait for the device. */
uint64_t round_nap(const struct lane *lane);

/* worker.policy is another. */
void round_policy(struct lane *lane);

#endif

/* turn.h - a turn of the sessions that are polled; see turn.c. Dispatcher. */
#ifndef GS_WORKER_TURN_H
#define GS_WORKER_TURN_H

#include "worker/worker.h"

struct lane;

/* Before the first turn. */
void turn_init(void);
/* Takes requests and records from all that the lane polls. */
void turn_take(struct lane *lane);
/* Takes what the session's tenant has announced, and fetches ahead what is read next. Its lane. */
void turn_look(struct session *session);
/* What may go to the device of one of the session's streams now. Its lane. */
struct sched_room turn_room(const struct session *session, uint32_t index);
/* How long the thread may sleep when all of them wait for the device. */
uint64_t turn_nap(const struct lane *lane);

/* worker.policy is another. */
void turn_policy(struct lane *lane);

#endif

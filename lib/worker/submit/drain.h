/* drain.h - ring records, from a tenant's memory to the device; see drain.c. Dispatcher. */
#ifndef GS_WORKER_SUBMIT_DRAIN_H
#define GS_WORKER_SUBMIT_DRAIN_H

#include "worker/session_parts.h"

/* How a stream was left. */
enum drained {
    DRAINED_ALL,
    DRAINED_SOME,    /* as much as the allowance was: there may be more */
    DRAINED_STALLED, /* it waits for an event that another stream has not reached, or a partition */
    DRAINED_ELSEWHERE /* the next record is for the main lane */
};

/* Drains stream `index`: as many records as the allowance is. Returns how many it took. A record
 * that does not pass its checks ends the session (seg_fault). */
uint32_t stream_drain(struct session *session, uint32_t index, struct sched_allowance allowance,
                      enum drained *drained);

/* The deadline of the stream's next launch, as far as it can be told without checks: for choosing
 * who goes first. 0: none. */
uint64_t stream_deadline(const struct session *session, uint32_t index);

#endif

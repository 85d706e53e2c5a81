/*
 * drain.h - takes the records of a stream's ring and gives their work to the device; see drain.c.
 * The session's lane.
 */
#ifndef GS_WORKER_SUBMIT_DRAIN_H
#define GS_WORKER_SUBMIT_DRAIN_H

#include "worker/session_parts.h"

/* In which state a drain has left the stream. */
enum drained {
    /* nothing is left to take, or until the client sets the activity word again: a host function
     * has not returned */
    DRAINED_ALL,
    DRAINED_SOME, /* the allowance is used up: the ring may hold more records */
    /* the next record waits for an event that another stream has not reached, or for a partition */
    DRAINED_STALLED,
    DRAINED_ELSEWHERE /* the next record is for the main lane */
};

/* Takes records of stream `index` up to the allowance, and returns how many were taken. A record
 * that does not pass its checks ends the session (session_fault). */
uint32_t stream_drain(struct session *session, uint32_t index, struct sched_allowance allowance,
                      enum drained *drained);

/* The deadline of the stream's next launch, read from the ring without checks; 0: none. The
 * scheduling round uses the deadline only to choose which session goes first. */
uint64_t stream_deadline(const struct session *session, uint32_t index);

#endif

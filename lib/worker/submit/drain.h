/*
 * drain.h - drains a stream: takes the records of its ring and issues their work; see drain.c.
 * Called by the session's lane.
 */
#ifndef GS_WORKER_SUBMIT_DRAIN_H
#define GS_WORKER_SUBMIT_DRAIN_H

#include "worker/session_parts.h"

/* The state in which a drain has left the stream. */
enum drained {
    /* nothing is left to take, or not until the client sets the activity word again, since a host
     * function has not returned */
    DRAINED_ALL,
    DRAINED_SOME, /* the allowance is used up: the ring may hold more records */
    /* the next record waits for something: an event that another stream has not reached, a
     * partition, a graph */
    DRAINED_STALLED,
    DRAINED_ELSEWHERE /* only the main lane may take the next record */
};

/* Takes records of stream `index` up to the allowance, and returns how many were taken. The first
 * padding counts only if it comes alone, so that an arrival is not cut where the ring's end lies
 * within it. All others count, or a tenant could keep the lane with paddings. A record that fails a
 * check ends the session (session_fault). */
uint32_t stream_drain(struct session *session, uint32_t index, struct sched_allowance allowance,
                      enum drained *drained);

/* Returns the deadline of the stream's next launch, read from the ring without checks; 0: none. The
 * scheduling round uses it only to choose which session goes first. */
uint64_t stream_deadline(const struct session *session, uint32_t index);

#endif

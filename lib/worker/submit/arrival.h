/*
 * arrival.h - batch arrivals: the records that a tenant writes into a stream at a time; see
 * arrival.c. Called by the session's lane.
 */
#ifndef GS_WORKER_SUBMIT_ARRIVAL_H
#define GS_WORKER_SUBMIT_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

struct session;
struct stream;

/* The arrivals of a stream. All zero: nothing is known. */
struct arrival {
    /* the ring position where the present arrival begins, plus the paddings passed since */
    uint64_t from;
    uint64_t bytes;   /* the length of the last arrival */
    uint32_t records; /* the number of its records */
    uint32_t taken;   /* records taken of the present arrival */
    uint32_t same;    /* how many arrivals in a row, before this one, had the same length */
    /* how many arrivals of one length it takes before the lane waits for the rest of the next one;
     * 0: ARRIVAL_KNOWN */
    uint32_t needed;
    uint64_t seen_ns;    /* since when the lane waits for the rest; 0: it does not */
    uint64_t look_ns;    /* the ring is not looked at before this time */
    uint64_t prefetched; /* records before this position are prefetched */
    bool entire;         /* the launches being taken are a whole arrival */
};

/* Returns whether stream `index`, of the latency class and with an allowance of `allowance`
 * launches, holds the beginning of an arrival for whose rest the lane should wait. If so, the
 * stream is not drained in this round. */
bool arrival_awaited(struct session *session, uint32_t index, uint32_t allowance);
/* Notes how many records a drain has taken, for a stream of any class. Ends the wait. */
void arrival_took(struct stream *stream, uint32_t records);

/* Notes that a drain has passed a padding, which does not count as a record. */
static inline void arrival_pad(struct arrival *arrival, uint32_t size)
{
    arrival->from += size;
}

#endif

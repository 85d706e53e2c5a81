/*
 * arrival.h - batch arrival: what a tenant writes into a stream at a time; see arrival.c. The
 * session's lane.
 */
#ifndef GS_WORKER_SUBMIT_ARRIVAL_H
#define GS_WORKER_SUBMIT_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

struct session;
struct stream;

/* The arrivals of a stream. All zero: nothing is known. */
struct arrival {
    uint64_t from;    /* where the present arrival begins; moves on by paddings passed since */
    uint64_t bytes;   /* of the last arrival */
    uint32_t records; /* of the last arrival */
    uint32_t taken;   /* records taken of the present arrival */
    uint32_t same;    /* how many arrivals before this one had the same length */
    /* arrivals of one length that are needed before the rest of the next one is awaited; 0:
     * ARRIVAL_KNOWN */
    uint32_t needed;
    uint64_t seen_ns;    /* since when the rest is awaited; 0: it is not */
    uint64_t look_ns;    /* the ring is not looked at before this time */
    uint64_t prefetched; /* records before this position have been fetched ahead */
    bool entire;         /* the launches being taken are an arrival from begin to end */
};

/* Whether stream `index`, of the latency class and with an allowance of `allowance` launches, holds
 * the begin of an arrival whose rest is worth waiting for. Then the stream is not to be drained in
 * this round. */
bool arrival_awaited(struct session *session, uint32_t index, uint32_t allowance);
/* Notes how many records have been taken, whatever the stream's class. Ends the wait. */
void arrival_took(struct stream *stream, uint32_t records);

/* Notes that a padding has been passed, which is no record of the tenant's. */
static inline void arrival_pad(struct arrival *arrival, uint32_t size)
{
    arrival->from += size;
}

#endif

/* arrival.h - what a tenant writes into a stream at a time; see arrival.c. Dispatcher. */
#ifndef GS_WORKER_SUBMIT_ARRIVAL_H
#define GS_WORKER_SUBMIT_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

struct session;
struct stream;

/* A stream's. Zeroed: nothing known. */
struct arrival {
    uint64_t from;       /* where the present one begins; paddings passed since count as before */
    uint64_t bytes;      /* of the last one */
    uint32_t records;    /* of the last one */
    uint32_t taken;      /* records of the present one */
    uint32_t same;       /* the last so many were as long as one another */
    uint32_t needed;     /* so many must be, before the rest is awaited; 0: ARRIVAL_KNOWN */
    uint64_t seen_ns;    /* the rest is awaited since then; 0: it is not */
    uint64_t look_ns;    /* not looked for before */
    uint64_t prefetched; /* records before this have been fetched ahead */
    bool entire;         /* what is being taken is one from begin to end */
};

/* Something may be in stream `index`, which has an allowance of so many launches: is that the begin
 * of an arrival whose rest is worth waiting for? Then it is not to be taken in this round. */
bool arrival_awaited(struct session *session, uint32_t index, uint32_t allowance);
/* So many records have been taken. */
void arrival_took(struct stream *stream, uint32_t records);

/* A padding has been passed, which is not the tenant's. */
static inline void arrival_pad(struct arrival *arrival, uint32_t size)
{
    arrival->from += size;
}

#endif

/*
 * latency.h - how long launches wait and how long they take, as histograms in the session's figures
 * (struct link_stats); see latency.c. The session's lane.
 */
#ifndef GS_WORKER_SCHED_LATENCY_H
#define GS_WORKER_SCHED_LATENCY_H

#include <stdint.h>

struct launch;
struct session;

#define LATENCY_STAMPS 16u
#define LATENCY_SEEN   4u

/* When the lane saw the records of a stream that it has not taken yet. All zero: there are none. */
struct latency_stamps {
    uint32_t first, last; /* of `stamp`, those from first on and before last count */
    struct latency_stamp {
        uint64_t position, ns; /* the records before that ring position had been seen by then */
    } stamp[LATENCY_STAMPS];
};

/* Launches that end together: when they were seen. All zero: none. */
struct latency_span {
    uint32_t count;
    uint32_t launches[LATENCY_SEEN];
    uint64_t seen_ns[LATENCY_SEEN];
};

/* Notes that the lane has seen the stream's records before that position. */
void latency_seen(struct latency_stamps *stamps, uint64_t position, uint64_t now);
/* Notes that launches, at least one, have been issued, in the order of their records; of each only
 * `end` is read. */
void latency_issued(const struct session *session, struct latency_stamps *stamps,
                    struct latency_span *span, const struct launch *launches, uint32_t count,
                    uint64_t now);
/* Notes that the span's launches have ended. */
void latency_ended(const struct session *session, const struct latency_span *span, uint64_t end);

#endif

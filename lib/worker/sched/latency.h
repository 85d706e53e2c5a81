/*
 * latency.h - measures how long launches wait and how long they take, as histograms in the
 * session's statistics (struct link_stats); see latency.c. Called by the session's lane.
 */
#ifndef GS_WORKER_SCHED_LATENCY_H
#define GS_WORKER_SCHED_LATENCY_H

#include <stdint.h>

struct launch;
struct session;

#define LATENCY_STAMPS 16u
#define LATENCY_SEEN   4u

/* When the lane first saw the records of a stream that are not issued yet. All zero: there are
 * none. */
struct latency_stamps {
    /* the stamps in use are those from `first` up to, not including, `last` */
    uint32_t first, last;
    struct latency_stamp {
        uint64_t position, ns; /* the records before this ring position were seen by this time */
    } stamp[LATENCY_STAMPS];
};

/* When the launches of a span were seen: seen_ns[i] holds for launches[i] of them. All zero: no
 * launches. */
struct latency_span {
    uint32_t count;
    uint32_t launches[LATENCY_SEEN];
    uint64_t seen_ns[LATENCY_SEEN];
};

/* Notes that the lane has seen the stream's records before this ring position. */
void latency_seen(struct latency_stamps *stamps, uint64_t position, uint64_t now);
/* Notes that launches, at least one, have been issued, in the order of their records. Reads only
 * the launches' `end`. */
void latency_issued(const struct session *session, struct latency_stamps *stamps,
                    struct latency_span *span, const struct launch *launches, uint32_t count,
                    uint64_t now);
/* Notes that the span's launches have ended. */
void latency_ended(const struct session *session, const struct latency_span *span, uint64_t end);

#endif

/* inflight_lane.h - what a lane keeps of all work in flight that is its own; see inflight.c. */
#ifndef GS_WORKER_SCHED_INFLIGHT_LANE_H
#define GS_WORKER_SCHED_INFLIGHT_LANE_H

#include <stdbool.h>
#include <stdint.h>

struct session;
struct stream;

#define INFLIGHT_ENDED_MAX 64u

/* Zeroed: nothing is in flight. */
struct inflight_lane {
    struct session *first; /* those that have something in flight, and some that had */
    /* The device's clock against the host's. */
    bool clock_known;
    uint64_t offset;                    /* the device's less the host's */
    uint64_t least_delay, next_correct; /* of fences seen; when the offset is corrected */
    /* Streams of which ends of work that fills the device have been seen, and are to be taken note
     * of in the order of their times. */
    struct inflight_ended {
        uint64_t when;
        struct session *session;
        struct stream *stream;
    } ended[INFLIGHT_ENDED_MAX];
    uint32_t ended_count;
};

#endif

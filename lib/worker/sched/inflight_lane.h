/*
 * inflight_lane.h - a lane's part of the inflight tracker: what is on the device of all its
 * sessions; see inflight.c. The lane.
 */
#ifndef GS_WORKER_SCHED_INFLIGHT_LANE_H
#define GS_WORKER_SCHED_INFLIGHT_LANE_H

#include <stdbool.h>
#include <stdint.h>

struct inflight;
struct session;

#define INFLIGHT_ENDED_MAX 64u

/* All zero: nothing is in flight. */
struct inflight_lane {
    struct session *first; /* list of sessions that have something in flight, or had */
    /* How the device's clock relates to the host's. */
    bool clock_known;
    uint64_t offset; /* the device's clock less the host's */
    /* least delay among the fences seen; when the offset is corrected next */
    uint64_t least_delay, next_correct;
    /* Streams whose work, which fills the device, has been seen to end. The ends are accounted for
     * in the order of their times. */
    struct inflight_ended {
        uint64_t when;
        struct inflight *inflight;
    } ended[INFLIGHT_ENDED_MAX];
    uint32_t ended_count;
};

#endif

/*
 * inflight_lane.h - a lane's part of the inflight tracker: what is on the device of all its
 * sessions; see inflight.c. The lane.
 */
#ifndef GS_WORKER_SCHED_INFLIGHT_LANE_H
#define GS_WORKER_SCHED_INFLIGHT_LANE_H

#include <stdint.h>

#include "worker/sched/device_clock.h"

struct inflight;
struct session;

#define INFLIGHT_ENDED_MAX 64u

/* All zero: nothing is in flight. */
struct inflight_lane {
    struct session *first;   /* list of sessions that have something in flight, or had */
    struct session *by_word; /* the last with kernels without a fence; NULL: they have ended */
    struct device_clock clock;
    /* Streams whose work, which fills the device, has been seen to end. The ends are accounted for
     * in the order of their times. */
    struct inflight_ended {
        uint64_t when;
        struct inflight *inflight;
    } ended[INFLIGHT_ENDED_MAX];
    uint32_t ended_count;
};

#endif

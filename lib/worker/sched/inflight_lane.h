/*
 * inflight_lane.h - a lane's part of the inflight tracker, for all sessions of the lane; see
 * inflight.c. Used by the lane alone.
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
    /* list of the sessions that have, or recently had, something in flight */
    struct session *first;
    /* the last session that issued kernels without a fence; NULL: these have ended */
    struct session *by_word;
    struct device_clock clock;
    /* Streams whose wide work is seen to have ended. The ends are accounted for in the order of
     * their times. */
    struct inflight_ended {
        uint64_t when;
        struct inflight *inflight;
    } ended[INFLIGHT_ENDED_MAX];
    uint32_t ended_count;
};

#endif

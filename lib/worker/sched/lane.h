/*
 * lane.h - a dispatch lane: a thread that polls sessions and gives their work to the device. What
 * the rooms below the loop need to know of the round that is going on stands here; they read it,
 * the loop writes it.
 */
#ifndef GS_WORKER_SCHED_LANE_H
#define GS_WORKER_SCHED_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"
#include "worker/sched/headroom.h"
#include "worker/sched/inflight_lane.h"

struct partition;
struct session;

#define LANES_MAX      16u
#define LANE_LATELY_NS 200000u

struct lane {
    uint32_t index;         /* 0: the main lane */
    struct partition *home; /* the green context of all SMs that the lane launches in; NULL: the
                               primary context, the main lane's */
    uint64_t now;           /* clock_ns() when this round began */
    uint64_t round;         /* counts rounds */
    bool busy;              /* some stream may have unfinished work */
    bool live;              /* some session that is polled is not just waiting for the device */
    bool crowded;           /* several tenants wait for the lane at this moment */
    bool alone;             /* at most one tenant is active, over all lanes */
    uint32_t active;        /* sessions that had something new in this round or shortly before */
    uint32_t lately;        /* ... or within LANE_LATELY_NS */
    bool quiet_wanted;      /* somebody waits for a quiet moment: little is to be on its way */
    const struct session *draining; /* whose records are being issued; NULL: nobody's */
    struct headroom headroom;       /* what is kept free for latency work */
    struct inflight_lane inflight_lane;
    uint32_t polled_of[3]; /* in this round, by rank of their class */
    uint32_t polled_count;
    struct session *polled[LINK_SLOTS_MAX]; /* the sessions that are polled */
};

#endif

/*
 * lane.h - a dispatch lane: a thread that polls sessions and gives their work to the device. What
 * the rooms below the loop need to know of the round that is going on stands here; they read it,
 * the loop writes it.
 */
#ifndef GS_WORKER_LANE_H
#define GS_WORKER_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"
#include "worker/reserve.h"

struct session;

struct lane {
    uint64_t now;      /* clock_ns() when this round began */
    uint64_t round;    /* counts rounds */
    bool busy;         /* some stream may have unfinished work */
    bool live;         /* some session that is polled is not just waiting for the device */
    bool crowded;      /* several tenants wait for the lane at this moment */
    bool quiet_wanted; /* somebody waits for a quiet moment: little is to be on its way */
    const struct session *draining; /* whose records are being issued; NULL: nobody's */
    struct reserve reserve;         /* what is kept free for latency work */
    uint32_t hot_count;
    struct session *hot[LINK_SLOTS_MAX]; /* the sessions that are polled */
};

#endif

/*
 * lane.h - a lane (dispatch lane): a thread that polls sessions and issues their work to the
 * device. The main lane launches in the primary context, a side lane in a green context of all SMs.
 * The struct holds what the folders below the loop need to know of the present scheduling round;
 * they read it, and the loop writes it.
 */
#ifndef GS_WORKER_SCHED_LANE_H
#define GS_WORKER_SCHED_LANE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"
#include "common/qos_class.h"
#include "common/util.h"
#include "worker/sched/headroom.h"
#include "worker/sched/inflight_lane.h"

struct partition;
struct session;

#define LANES_MAX      LINK_LANES_MAX
#define LANE_LATELY_NS 200000u

struct lane {
    uint32_t index; /* 0: the main lane */
    /* the green context of all SMs in which a side lane launches; NULL for the main lane, which
     * launches in the primary context */
    struct partition *context;
    uint64_t now;              /* clock_ns() when this round began */
    _Atomic uint64_t awake_ns; /* the same as `now`, for other threads; 0: the lane sleeps */
    uint64_t round;            /* counts rounds */
    bool busy;                 /* some stream may have unfinished work */
    /* the lane must not sleep after this round, because a polled session waits for it */
    bool stay_awake;
    bool crowded;           /* more than two sessions are active now */
    bool alone;             /* at most one session is active on all lanes together */
    uint32_t active_now;    /* sessions with activity in this round or just before (rings.c) */
    uint32_t active_lately; /* sessions with activity within LANE_LATELY_NS */
    bool quiet_wanted;      /* a job waits for a quiet moment, so the lane keeps little in flight */
    const struct session *draining; /* the session whose records are being issued; NULL: none */
    struct headroom headroom;       /* latency headroom: SMs that best-effort work leaves free */
    struct inflight_lane inflight_lane;
    /* the number of sessions polled in this round, by rank of their class */
    uint32_t polled_of[CLASSES];
    uint32_t polled_count;
    struct session *polled[LINK_SLOTS_MAX]; /* the sessions that are polled */
};

/* Returns whether the lane is the main lane. */
static inline bool lane_is_main(const struct lane *lane)
{
    return lane->index == 0;
}

/* Begins a round. */
static inline void lane_begins(struct lane *lane)
{
    lane->now = clock_ns();
    /* relaxed: a number by itself */
    atomic_store_explicit(&lane->awake_ns, lane->now, memory_order_relaxed);
}

static inline void lane_sleeps(struct lane *lane)
{
    atomic_store_explicit(&lane->awake_ns, 0, memory_order_relaxed);
}

#endif

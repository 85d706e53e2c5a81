/*
 * class_traits.h - the properties of each class (gs_class), one row per class. common/qos_class.h
 * has the order of the classes. Called by any thread.
 *
 * The rows are values rather than a table in memory, so that a read of one field compiles to a
 * comparison of the class: lanes read the traits for each launch.
 */
#ifndef GS_WORKER_SCHED_CLASS_TRAITS_H
#define GS_WORKER_SCHED_CLASS_TRAITS_H

#include "worker/sched/schedule.h"

struct class_traits {
    /* CUDA stream priority, before it is clamped to the device's range; two of six for each
     * class */
    int priority;
    uint64_t ahead_ns; /* how much expected time a session may have in flight */
    /* its sessions wait for other sessions of their domain, and these for them */
    bool waits;
    bool by_quantum; /* while several sessions wait, each gets a quantum at a time */
    /* what its tenants write at a time is a request: the lane waits for all of it (arrival.h) and
     * issues it in few graphs, which may have more lengths than those of other classes */
    bool requests;
    bool wants_headroom, leaves_headroom; /* headroom.h */
    /* a session stays polled while its work is on the device, and for a while after (round.c) */
    bool stays_polled;
    bool side_lanes; /* side lanes may issue its light launches */
};

static inline struct class_traits class_traits(uint32_t cls)
{
    switch (cls) {
    case GS_CLASS_LATENCY:
        return (struct class_traits){.priority = -4,
                                     .ahead_ns = SCHED_AHEAD_NS,
                                     .requests = true,
                                     .wants_headroom = true,
                                     .stays_polled = true};
    case GS_CLASS_NORMAL:
        return (struct class_traits){.priority = -2,
                                     .ahead_ns = SCHED_AHEAD_NS,
                                     .waits = true,
                                     .by_quantum = true,
                                     .side_lanes = true};
    default: /* GS_CLASS_BEST_EFFORT */
        return (struct class_traits){
            .priority = 0, .ahead_ns = SCHED_BACK_NS, .waits = true, .leaves_headroom = true};
    }
}

#endif

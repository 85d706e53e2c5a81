/*
 * class_traits.h - what a class is to the worker: one row for each. The order of the classes is in
 * common/qos_class.h. Any thread.
 *
 * The rows are values rather than a table in memory, so that a look at one field compiles to a
 * comparison of the class: lanes look for each launch.
 */
#ifndef GS_WORKER_SCHED_CLASS_TRAITS_H
#define GS_WORKER_SCHED_CLASS_TRAITS_H

#include "worker/sched/schedule.h"

struct class_traits {
    int priority;      /* CUDA's, before the device's range cuts it: each class has two of six */
    uint64_t ahead_ns; /* how much a session may have in flight */
    /* its sessions wait for others of their domain, and are waited for */
    bool waits;
    bool by_quantum; /* while several wait, a session is given a quantum at a time */
    /* what its tenants write at a time is a request: awaited (arrival.h), and given to the device
     * in few graphs, of more lengths than other classes have */
    bool requests;
    bool wants_headroom, leaves_headroom; /* headroom.h */
    bool stays_polled; /* while its work is on the device, and for a while after (round.c) */
    bool side_lanes;   /* a side lane may issue its light launches */
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

/*
 * session_placement.h - where a session's launches run; see placement.c and override.c. Belongs to
 * the session's lane.
 */
#ifndef GS_WORKER_SUBMIT_SESSION_PLACEMENT_H
#define GS_WORKER_SUBMIT_SESSION_PLACEMENT_H

#include "common/wire.h"
#include "worker/sched/headroom.h"

struct partition;

#define AFFINITY_ENTRIES 8u

/* A cached partition for launches with an affinity of their own, so that a recent affinity is found
 * without a search. An entry is void once any partition has been destroyed since
 * (partition_losses). */
struct affinity_entry {
    struct wire_qos qos; /* the affinity */
    struct partition *partition;
    uint64_t losses;
    uint32_t policy; /* worker->policy_count when it was found */
    /* the headroom level that was subtracted; HEADROOM_NONE: the entry holds under any policy */
    uint32_t level;
};

/* A trimmed partition: the grant less the latency headroom, or less a part of it. */
struct trimmed {
    struct partition *partition; /* held; NULL: the grant itself */
    uint32_t policy;             /* worker->policy_count when it was found */
    /* when the partition is requested again, if it is not ready then */
    uint64_t again_ns;
};

struct session_placement {
    struct affinity_entry affinity[AFFINITY_ENTRIES];
    uint32_t affinity_next;
    struct trimmed trimmed[HEADROOM_LEVEL_MAX]; /* by headroom level, from HEADROOM_PARTIAL on */
};

#endif

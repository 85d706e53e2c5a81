/*
 * session_placement.h - where a session's launches run; see placement.c and override.c. The
 * session's lane.
 */
#ifndef GS_WORKER_SUBMIT_SESSION_PLACEMENT_H
#define GS_WORKER_SUBMIT_SESSION_PLACEMENT_H

#include "common/wire.h"
#include "worker/sched/headroom.h"

struct partition;

#define AFFINITY_ENTRIES 8u

/* The partition that launches with an affinity of their own used lately: the same affinity is found
 * without a search. An entry is void once a partition has gone since (partition_losses). */
struct affinity_entry {
    struct wire_qos qos; /* its affinity */
    struct partition *partition;
    uint64_t losses;
    uint32_t policy; /* worker->policy_count when it was found */
    /* the headroom level that was left out; HEADROOM_NONE: the entry holds under any policy */
    uint32_t level;
};

/* A trimmed partition: the grant less the latency headroom, or less a part of it. */
struct trimmed {
    struct partition *partition; /* held; NULL: the grant itself */
    uint32_t policy;             /* worker->policy_count when it was found */
    uint64_t again_ns;           /* when it is asked for again, if it is not ready then */
};

struct session_placement {
    struct affinity_entry affinity[AFFINITY_ENTRIES];
    uint32_t affinity_next;
    struct trimmed trimmed[HEADROOM_LEVEL_MAX]; /* by headroom level, from HEADROOM_PARTIAL on */
};

#endif

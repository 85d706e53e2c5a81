/* session_placement.h - where a session's launches run; see placement.c and override.c. The
 * session's lane. */
#ifndef GS_WORKER_SUBMIT_SESSION_PLACEMENT_H
#define GS_WORKER_SUBMIT_SESSION_PLACEMENT_H

#include "common/wire.h"
#include "worker/sched/headroom.h"

struct partition;

#define AFFINITY_ENTRIES 8u

/* Where launches with an affinity of their own went lately: the same one is found without a
 * search. Worth nothing once a partition has gone since (partition_losses). */
struct affinity_entry {
    struct wire_qos qos; /* its affinity */
    struct partition *partition;
    uint64_t losses;
    uint32_t policy; /* of worker.policy_count ... */
    uint32_t level;  /* ... less this of what it reserves; NONE: under any policy */
};

/* The grant less the latency headroom, or some of it. */
struct trimmed {
    struct partition *partition; /* held. NULL: the grant itself */
    uint32_t policy;             /* of worker.policy_count, when that was found */
    uint64_t again_ns;           /* when it is asked for again, if it is not there then */
};

struct session_placement {
    struct affinity_entry affinity[AFFINITY_ENTRIES];
    uint32_t affinity_next;
    struct trimmed trimmed[HEADROOM_LEVEL_MAX]; /* by headroom level, from HEADROOM_PARTIAL on */
};

#endif

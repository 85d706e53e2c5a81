/*
 * graph_variant.h - the variants of a graph that a tenant has recorded (graph.c): its records as an
 * executable graph for one partition and priority; see graph_variant.c.
 */
#ifndef GS_WORKER_SUBMIT_GRAPH_VARIANT_H
#define GS_WORKER_SUBMIT_GRAPH_VARIANT_H

#include <limits.h>

#include "worker/submit/record.h"

/* What the tenant has recorded, one record after the other: the worker's own copy. */
struct graph_records {
    unsigned char *memory;
    uint64_t bytes;
};

/* One record of a graph, checked. */
struct graph_step {
    bool is_launch;
    bool is_order; /* a rec_after: the other members are not set */
    struct launch launch;
    struct transfer transfer;
};
/* The size of the record at `offset`; 0: the size is impossible. */
uint32_t graph_step_size(const struct graph_records *records, uint64_t offset);
/* Checks a record of that size. The session's lane, or a job of the session. */
record_refusal graph_step_check(const struct session *session, unsigned char *record, uint32_t size,
                                struct graph_step *step);

/* The priority of the stream that the graph is launched in. */
#define STREAM_PRIORITY INT_MAX

/* All zero: none. */
struct graph_variant {
    CUgraphExec exec; /* NULL: none */
    CUgraph graph;
    struct partition *partition; /* NULL: the whole device */
    int priority;
    uint64_t used;  /* by the graph's own clock: when it was last launched, or made */
    uint64_t bytes; /* what the session is charged for it, see memory/driver_memory.h */
};

/* Makes a variant in a partition that the job holds. A variant that a chore makes is charged beyond
 * the user's limit too, since the graph is there already. On failure the job has failed. Service
 * thread. */
gs_status graph_variant_make(struct job *job, const struct graph_records *records,
                             struct partition *partition, int priority,
                             struct graph_variant *variant);
/* Destroys the executable graph, if there is one, which the device has finished. */
void graph_variant_deinit(struct session *session, struct graph_variant *variant);

#endif

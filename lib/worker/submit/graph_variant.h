/*
 * graph_variant.h - the variants of a graph that a tenant has recorded (graph.c): its records as an
 * executable graph for one partition, priority and window; see graph_variant.c.
 */
#ifndef GS_WORKER_SUBMIT_GRAPH_VARIANT_H
#define GS_WORKER_SUBMIT_GRAPH_VARIANT_H

#include <limits.h>

#include "worker/submit/graph_record.h"

/* The priority of the stream that the graph is launched in. */
#define STREAM_PRIORITY INT_MAX

/* What a variant has of each step. */
struct variant_step {
    CUgraphNode node;
    uint64_t serial; /* graph_step_serial of what the node is set to */
    enum { NODE_ON, NODE_OFF, NODE_EMPTY /* it was left out when the variant was made */ } state;
    bool is_launch;
    bool fixed; /* it has a programmatic edge, so that it cannot be left out as it is */
};

/* All zero: none. */
struct graph_variant {
    CUgraphExec exec; /* NULL: none */
    CUgraph graph;
    struct partition *partition; /* NULL: the whole device */
    int priority;
    uint64_t window; /* the open part of the session's, to which its kernels keep */
    /* by the graph's own clock: when it was last launched, or made; 0: it is to be destroyed */
    uint64_t used;
    uint64_t bytes; /* what the session is charged for it, see memory/driver_memory.h */
    struct variant_step *steps;
    unsigned char *set; /* the records as the nodes are set to them */
    /* session->memory.generation when all nodes were last known to name what is there */
    uint64_t generation;
    uint16_t *changed; /* the steps that are not set as they were recorded, in order */
    uint32_t changed_count;
    bool in_clusters; /* some of its kernels are */
};

/* Makes a variant in a partition that the job holds, set to these changes. A variant that a chore
 * makes is charged beyond the user's limit too, since the graph is there already. On failure the
 * job has failed. Service thread. */
gs_status graph_variant_make(struct job *job, const struct graph_records *records,
                             const struct graph_changes *changes, struct partition *partition,
                             int priority, struct graph_variant *variant);
/* Destroys the executable graph, if there is one; launches that the device has go on. */
void graph_variant_deinit(struct session *session, struct graph_variant *variant);

enum variant_outcome {
    VARIANT_SET,
    VARIANT_REFUSED, /* a changed record fails its check: *refusal */
    VARIANT_UNFIT    /* it has to be made anew, or the driver has lost the context: *result */
};

/* Sets the variant to these changes, which graph_changes_check has passed, and to nothing else.
 * Main lane. */
enum variant_outcome graph_variant_set(struct session *session, const struct graph_records *records,
                                       const struct graph_changes *changes,
                                       struct graph_variant *variant, CUresult *result,
                                       record_refusal *refusal);

#endif

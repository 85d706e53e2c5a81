/*
 * graph_variant.h - the variants of a graph that a tenant has recorded (graph.c). A variant is an
 * executable graph of the records for one partition, priority and window; see graph_variant.c.
 */
#ifndef GS_WORKER_SUBMIT_GRAPH_VARIANT_H
#define GS_WORKER_SUBMIT_GRAPH_VARIANT_H

#include <limits.h>

#include "worker/submit/graph_record.h"

/* Stands for the priority of the stream in which the graph is launched. */
#define STREAM_PRIORITY INT_MAX

/* The state of a step in a variant. */
struct variant_step {
    CUgraphNode node;
    uint64_t serial; /* graph_step_serial of the node's present setting */
    /* the step was left out when the variant was made */
    enum { NODE_ON, NODE_OFF, NODE_EMPTY } state;
    bool is_launch;
    /* the node has a programmatic edge, so it cannot be disabled to leave the step out */
    bool fixed;
};

/* All zero: no variant. */
struct graph_variant {
    CUgraphExec exec; /* NULL: none */
    CUgraph graph;
    struct partition *partition; /* NULL: the whole device */
    int priority;
    uint64_t window; /* the size of the session's open window, to which the kernels are confined */
    /* when the variant was last launched or made, by the graph's own clock; 0: it shall be
     * destroyed */
    uint64_t used;
    uint64_t bytes; /* the bytes charged to the session for the variant (memory/driver_memory.h) */
    struct variant_step *steps;
    unsigned char *set; /* the records to which the nodes are set */
    /* session->memory.generation when all nodes were last known to name existing objects */
    uint64_t generation;
    uint16_t *changed; /* the steps that are set differently than recorded, in ascending order */
    uint32_t changed_count;
    bool in_clusters; /* some of its kernels run in clusters */
};

/* Makes a variant in a partition that the job holds, set to these changes. If a chore makes the
 * variant, it is charged even beyond the user's limit, since the graph exists already. On failure
 * the job has failed. Called by a service thread. */
gs_status graph_variant_make(struct job *job, const struct graph_records *records,
                             const struct graph_changes *changes, struct partition *partition,
                             int priority, struct graph_variant *variant);
/* Destroys the variant, if there is one. Launches of it that are on the device go on. */
void graph_variant_deinit(struct session *session, struct graph_variant *variant);

enum variant_outcome {
    VARIANT_SET,
    VARIANT_REFUSED, /* a changed record fails its check; *refusal says why */
    /* the variant must be made anew, or the driver has lost the context; see *result */
    VARIANT_UNFIT
};

/* Sets the variant to the recorded steps with exactly these changes, which have passed
 * graph_changes_check. Called by the main lane. */
enum variant_outcome graph_variant_set(struct session *session, const struct graph_records *records,
                                       const struct graph_changes *changes,
                                       struct graph_variant *variant, CUresult *result,
                                       record_refusal *refusal);

#endif

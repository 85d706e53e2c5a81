/*
 * exec_graph.h - exec graphs: kernels that run one after the other as one executable graph; see
 * exec_graph.c. Called by the session's lane.
 */
#ifndef GS_WORKER_SUBMIT_EXEC_GRAPH_H
#define GS_WORKER_SUBMIT_EXEC_GRAPH_H

#include "worker/partition/kernel_launch.h"
#include "worker/submit/completion.h"

/* How a graph signals its end. */
enum ending {
    ENDS_SILENT,
    /* by a memory-write node, which takes a lock of the whole device, so only for a tenant that is
     * alone on the device */
    ENDS_BY_WRITE,
    ENDS_BY_KERNEL, /* by the completing kernel */
    ENDS_BY_ITSELF, /* by the last kernel's own store; with &completion_none, not at all */
    ENDINGS
};

/* All zero: not made. */
struct exec_graph {
    CUgraphExec exec; /* NULL: not made */
    CUgraph graph;    /* kept, because its node handles identify the executable graph's nodes */
    uint32_t length;
    enum ending ending;
    CUgraphNode end;       /* the completion node; only ENDS_BY_WRITE and ENDS_BY_KERNEL have one */
    CUgraphNode *node;     /* `length` nodes */
    unsigned char *params; /* the parameters to which the nodes are set, one after the other */
    /* What the last launch stores at its end, and the difference from the launch before it.
     * exec_graph_set_ahead predicts the next launch from these. */
    struct {
        uint64_t position, position_step;
        uint64_t sequence, sequence_step;
        uint32_t rest; /* for how many more launches no prediction is made */
        bool done;     /* the node has been set to the prediction since the last launch */
    } ahead;
};

/* Makes a graph for launches with the keys of `launches` (graph_cache.h), and sets it to their
 * parameters. stream_priority: the priority of the CUDA stream in which the graph will be
 * launched. */
CUresult exec_graph_init(struct exec_graph *exec_graph, const struct launch *launches,
                         uint32_t length, enum ending ending,
                         const struct completion_params *signal, int stream_priority);
/* Launches the graph with the parameters of `launches`, whose keys must be those for which the
 * graph was made. */
CUresult exec_graph_launch(struct exec_graph *exec_graph, const struct launch *launches,
                           const struct completion_params *signal, CUstream stream);
/* Sets the graph of one kernel with an own store, which has just been launched, to the parameters
 * of its likely next launch, if the launches so far allow a prediction. Setting the node takes 0.4
 * to 0.7 us, for which the next launch would have to wait. A launch that differs sets the node
 * again. */
void exec_graph_set_ahead(struct exec_graph *exec_graph, const struct launch *launch,
                          const struct completion_params *signal);
/* Destroys the graph, if it was made. */
void exec_graph_deinit(struct exec_graph *exec_graph);

#endif

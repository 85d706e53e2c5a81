/*
 * exec_graph.h - exec graphs: kernels one after the other as one executable graph; see
 * exec_graph.c. The session's lane.
 */
#ifndef GS_WORKER_SUBMIT_EXEC_GRAPH_H
#define GS_WORKER_SUBMIT_EXEC_GRAPH_H

#include "worker/partition/kernel_launch.h"
#include "worker/submit/completion.h"

/* How a graph signals its end. */
enum ending {
    ENDS_SILENT,
    /* a memory-write node; the node holds a lock of the whole device, so it is for a tenant alone
     * on the device */
    ENDS_BY_WRITE,
    ENDS_BY_KERNEL, /* the completing kernel */
    ENDS_BY_ITSELF, /* the last kernel's own store or, with &completion_none, nothing */
    ENDINGS
};

/* All zero: not made. */
struct exec_graph {
    CUgraphExec exec; /* NULL: not made */
    CUgraph graph;    /* kept, because its node handles name the executable graph's nodes */
    uint32_t length;
    enum ending ending;
    CUgraphNode end;       /* the completion node; only ENDS_BY_WRITE and ENDS_BY_KERNEL have one */
    CUgraphNode *node;     /* `length` nodes */
    unsigned char *params; /* the parameters that the nodes are set to, one after the other */
    /* What the last launch stores at its end, and by how much that is more than the launch before
     * it: exec_graph_set_ahead predicts the next launch by these. */
    struct {
        uint64_t position, position_step;
        uint64_t sequence, sequence_step;
        uint32_t rest; /* the number of launches to come that are not predicted */
        bool done;     /* the node has been set to what is predicted since the last launch */
    } ahead;
};

/* Makes a graph for launches with the keys of `launches`, and sets it to their parameters.
 * stream_priority: the priority of the CUDA stream that the graph is to be launched in. */
CUresult exec_graph_init(struct exec_graph *exec_graph, const struct launch *launches,
                         uint32_t length, enum ending ending,
                         const struct completion_params *signal, int stream_priority);
/* Launches the graph with the parameters of `launches`, whose keys are those that the graph was
 * made for. */
CUresult exec_graph_launch(struct exec_graph *exec_graph, const struct launch *launches,
                           const struct completion_params *signal, CUstream stream);
/* Sets the graph of one kernel with an own store, which has just been launched, to what its next
 * launch will likely be, if the launches so far predict it: setting the node takes 0.4 to 0.7 us
 * of the time that the next launch would wait for. Another launch sets the node anew. */
void exec_graph_set_ahead(struct exec_graph *exec_graph, const struct launch *launch,
                          const struct completion_params *signal);
/* Does nothing to a graph that is not made. */
void exec_graph_deinit(struct exec_graph *exec_graph);

#endif

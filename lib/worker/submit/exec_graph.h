/* exec_graph.h - kernels one after the other, as one executable graph; see exec_graph.c.
 * Dispatcher. */
#ifndef GS_WORKER_SUBMIT_EXEC_GRAPH_H
#define GS_WORKER_SUBMIT_EXEC_GRAPH_H

#include "worker/partition/kernel_launch.h"
#include "worker/submit/completion.h"

/* What a node is made for: of a launch, all but its parameters. */
struct launch_key {
    const struct kernel *kernel; /* NULL: none */
    uint64_t serial;             /* the kernel's: its memory may be another kernel's by now */
    uint32_t grid[3], block[3];
    uint32_t dynamic_smem;
    int priority;
    struct partition *partition;
};

struct launch_key launch_key(const struct launch *launch);
bool launch_key_is(const struct launch_key *key, const struct launch *launch);
/* A key that is kept keeps its partition from being destroyed with graphs in it. */
void launch_key_hold(const struct launch_key *key);
void launch_key_release(const struct launch_key *key);

/* How a graph tells its completion. */
enum ending {
    ENDS_SILENT,
    ENDS_BY_WRITE,  /* a memory-write node, which holds a lock of the whole device: for who is alone
                     */
    ENDS_BY_KERNEL, /* the completing kernel */
    ENDS_BY_ITSELF, /* the last kernel tells it, or, with &completion_none, nothing */
    ENDINGS
};

/* Zeroed: not made. */
struct exec_graph {
    CUgraphExec exec; /* NULL: not made */
    CUgraph graph;    /* kept: its node handles name the executable graph's nodes */
    uint32_t length;
    enum ending ending;
    CUgraphNode end;       /* the completion node, of the two endings that have one */
    CUgraphNode *node;     /* `length` of them */
    unsigned char *params; /* what the nodes are set to, one after the other */
};

/* For launches of these keys and parameters. stream_priority: of the CUDA stream that it is to be
 * launched in. */
CUresult exec_graph_init(struct exec_graph *exec_graph, const struct launch *launches,
                         uint32_t length, enum ending ending, const struct completion_params *tell,
                         int stream_priority);
/* Launches it with the parameters of these launches, which have the keys that it was made for. */
CUresult exec_graph_launch(struct exec_graph *exec_graph, const struct launch *launches,
                           const struct completion_params *tell, CUstream stream);
/* Safe on one that is not made. */
void exec_graph_deinit(struct exec_graph *exec_graph);

#endif

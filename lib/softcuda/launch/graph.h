// Graphs: nodes and edges, their executable form, and its launches. Any thread.
#ifndef GS_SOFTCUDA_LAUNCH_GRAPH_H
#define GS_SOFTCUDA_LAUNCH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "softcuda/launch/launch.h"
#include "softcuda/stream/op.h"

// The work of a node. It owns the parameters.
struct node_work {
    enum op_kind kind; // OP_EMPTY, OP_KERNEL, OP_COPY, OP_FILL, OP_MEM
    CUcontext context;
    union {
        struct launch kernel;
        struct copy copy;
        struct fill fill;
        struct op_mem mem;
    };
};

CUresult graph_new(CUgraph *out);
CUresult graph_free(CUgraph graph);
// On success, takes ownership of what WORK owns.
CUresult graph_add(CUgraph graph, const CUgraphNode *dependencies, size_t count,
                   const struct node_work *work, CUgraphNode *out);
// Adds edges; without EDGES they are ordinary ones.
CUresult graph_add_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                         const CUgraphEdgeData *edges, size_t count);
CUresult graph_node_kernel(CUgraphNode node, struct launch **kernel);

CUresult graph_instantiate(CUgraph graph, bool node_priorities, CUgraphExec *out);
CUresult graph_exec_check(CUgraphExec exec);
CUresult graph_exec_free(CUgraphExec exec);
// Replaces the work of NODE in EXEC from the next launch on; the kind must not change. On success,
// takes ownership of what WORK owns.
CUresult graph_exec_set(CUgraphExec exec, CUgraphNode node, const struct node_work *work);
// Whether NODE does its work in EXEC from the next launch on, or is skipped.
CUresult graph_exec_enable(CUgraphExec exec, CUgraphNode node, bool enabled);
CUresult graph_exec_launch(CUgraphExec exec, CUstream stream);

void node_work_free(struct node_work *work);

#endif

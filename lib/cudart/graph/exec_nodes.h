/*
 * exec_nodes.h - the nodes of an executable graph, in the order of a launch, which is a topological
 * order. They are copies: the graph may change or end afterwards. The executable graph owns them,
 * under its lock; recorded.c stores in each what the session has recorded of it.
 *
 * The nodes of a child graph follow the node that stands for it. Then follows an empty node with
 * the same handle, which depends on all of them.
 */
#ifndef GS_CUDART_EXEC_NODES_H
#define GS_CUDART_EXEC_NODES_H

#include "cudart/abi.h"
#include "cudart/graph/op.h"

struct exec_node {
    cudaGraphNode_t node; /* the node of which this one is a copy */
    struct op op;         /* its own */
    size_t *before;       /* indices of nodes on which it depends; all are smaller than its own */
    size_t before_count;
    size_t made;             /* its index in its graph, in the order of creation */
    cudaGraphExec_t *bodies; /* of a conditional node, made by exec.c; NULL if the body is absent */
    bool disabled;
    bool ends_child;   /* the node is the end of a child graph */
    bool programmatic; /* a kernel that may start before the only node on which it depends, also a
                          kernel, has ended */

    /* The steps of the session's graph that resulted from recording the op; they are consecutive.
     */
    unsigned first_step, steps;
    bool changed; /* the session does not know the current op yet */
    bool off;     /* the session skips the steps, because the node is disabled */
};

struct exec_nodes {
    struct exec_node *at;
    size_t count, room;
};

/* cudaErrorInvalidValue: the handle is invalid, or the edges form a cycle. */
cudaError_t exec_nodes_init(struct exec_nodes *nodes, cudaGraph_t graph);
/* The device of the first node whose op needs a certain device; OP_ANYWHERE: there is no such node.
 */
int exec_nodes_device(const struct exec_nodes *nodes);
void exec_nodes_deinit(struct exec_nodes *nodes);

#endif

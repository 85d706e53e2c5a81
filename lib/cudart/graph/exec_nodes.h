/*
 * exec_nodes.h - the nodes of an executable graph, in the order of a launch, which is one that the
 * edges allow. They are copies: the graph may change or end afterwards. The executable graph owns
 * them, under its lock; recorded.c keeps in each what the session has of it.
 *
 * The nodes of a child graph follow the node that stands for it; an empty node of the same handle
 * follows them and waits for all of them.
 */
#ifndef GS_CUDART_EXEC_NODES_H
#define GS_CUDART_EXEC_NODES_H

#include "cudart/abi.h"
#include "cudart/graph/op.h"

struct exec_node {
    cudaGraphNode_t node; /* the node of the graph that this one is a copy of */
    struct op op;         /* its own */
    size_t *before;       /* numbers of earlier nodes */
    size_t before_count;
    size_t made; /* its index among the nodes of its graph, in the order in which they were made */
    cudaGraphExec_t *bodies; /* of a conditional node, made by exec.c; those without one are NULL */
    bool disabled;
    bool ends_child;   /* it is the end of its node's child graph */
    bool programmatic; /* of a kernel that may begin before the only node that it waits for, a
                          kernel too, has ended */

    /* The steps of the session's graph that recording the op has made, one after the other. */
    unsigned first_step, steps;
    bool changed; /* the op is not the one that the session has been told */
    bool off;     /* the session has been told to leave the steps out */
};

struct exec_nodes {
    struct exec_node *at;
    size_t count, room;
};

/* cudaErrorInvalidValue: the handle names no graph, or the edges form a cycle. */
cudaError_t exec_nodes_init(struct exec_nodes *nodes, cudaGraph_t graph);
/* The device of the first node whose op one device alone can do; OP_ANYWHERE: there is no such
 * node. */
int exec_nodes_device(const struct exec_nodes *nodes);
void exec_nodes_deinit(struct exec_nodes *nodes);

#endif

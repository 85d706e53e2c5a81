/* graph_parts.h - what the files of this folder know of a graph. The graphs' lock guards it all. */
#ifndef GS_CUDART_GRAPH_PARTS_H
#define GS_CUDART_GRAPH_PARTS_H

#include "cudart/graph/graph.h"
#include "cudart/graph/user_object.h"

#define GRAPHS_MAX 65536u

/* To a node from one that it waits for. */
struct edge {
    struct node *from;
    cudaGraphEdgeData data;
};

struct node {
    struct graph *graph;
    cudaGraphNode_t handle;
    cudaGraphNode_t original; /* of a clone's: the node that it was made from */
    struct op op;
    struct edge *before; /* one for each node that it waits for */
    size_t before_count, before_room;
    size_t mark; /* a walk's own */
};

struct graph {
    cudaGraph_t handle;
    struct node **nodes; /* in the order in which they were added */
    size_t count, room;
    struct user_refs objects;
    struct condition **conditions; /* made for it, and held by it */
    size_t condition_count, condition_room;
    bool within_node; /* it is a child graph's node's, which ends it */
};

/* Take and give the lock of all graphs. */
void graphs_enter(void);
void graphs_leave(void);

/* NULL: none. */
struct graph *graph_find(cudaGraph_t handle);
struct node *node_find(cudaGraphNode_t handle);

/* Makes an empty graph. NULL: no memory, or too many graphs. */
struct graph *graph_make(void);
/* As graph_add, but the op stays the caller's on failure. */
cudaError_t graph_add_locked(struct graph *graph, const cudaGraphNode_t *deps,
                             const cudaGraphEdgeData *data, size_t count, const struct op *op,
                             cudaGraphNode_t *out);

/* Whether the edge waits for the whole of what it comes from: its data are all zeros. */
bool edge_is_ordinary(const cudaGraphEdgeData *data);
/* Whether the node waits for that one; *index: where in node->before. */
bool node_has_before(const struct node *node, const struct node *before, size_t *index);

#endif

/* graph_parts.h - the parts of a graph that the files of this folder share. The graphs' lock guards
 * all of it. */
#ifndef GS_CUDART_GRAPH_PARTS_H
#define GS_CUDART_GRAPH_PARTS_H

#include "cudart/graph/graph.h"
#include "cudart/graph/user_object.h"

#define GRAPHS_MAX 65536u

/* An edge, stored in its target. */
struct edge {
    struct node *from;
    cudaGraphEdgeData data;
};

struct node {
    struct graph *graph;
    cudaGraphNode_t handle;
    cudaGraphNode_t original; /* in a clone: the node from which it was made */
    struct op op;
    struct edge *before; /* one for each node on which it depends */
    size_t before_count, before_room;
    size_t mark; /* used by a walk */
};

struct graph {
    cudaGraph_t handle;
    struct node **nodes; /* in the order of creation */
    size_t count, room;
    struct user_refs objects;
    struct condition **conditions; /* made for the graph, which holds them */
    size_t condition_count, condition_room;
    bool within_node; /* the graph belongs to the node of a child graph */
};

/* Lock and unlock all graphs. */
void graphs_enter(void);
void graphs_leave(void);

/* NULL: none. */
struct graph *graph_find(cudaGraph_t handle);
struct node *node_find(cudaGraphNode_t handle);

/* Makes an empty graph. NULL: no memory, or too many graphs. */
struct graph *graph_make(void);
/* As graph_add, but on failure the op still belongs to the caller. */
cudaError_t graph_add_locked(struct graph *graph, const cudaGraphNode_t *deps,
                             const cudaGraphEdgeData *data, size_t count, const struct op *op,
                             cudaGraphNode_t *out);

/* Whether the edge waits for its source to complete: its data are all zeros. */
bool edge_is_ordinary(const cudaGraphEdgeData *data);
/* Whether the node depends on `before`; *index: its index in node->before. */
bool node_has_before(const struct node *node, const struct node *before, size_t *index);

#endif

/*
 * graph.h - graphs as a program makes them: nodes and edges. Handles of graphs and nodes are slot
 * numbers, and one lock guards all graphs.
 *
 * The path of a graph through this folder:
 *   graph.h       nodes that a program adds or a stream captures (capture.h), each with an op
 *                 (op.h), which says what it does
 *   exec_nodes.h  instantiation: copies of the nodes, including those of child graphs, in
 *                 topological order
 *   exec.h        the executable graph, which owns these nodes and is launched and changed
 *   recorded.h    the session's graph, as the server knows it: the steps that result from the nodes
 */
#ifndef GS_CUDART_GRAPH_H
#define GS_CUDART_GRAPH_H

#include "cudart/abi.h"
#include "cudart/graph/op.h"
#include "cudart/graph/user_object.h"

/* ---- Graphs: cudaErrorInvalidValue where a handle names none --------------------------------- */

cudaError_t graph_new(cudaGraph_t *out);
/* Ends the graph. A graph that belongs to the node of a child graph ends with that node instead. */
cudaError_t graph_end(cudaGraph_t graph);
cudaError_t graph_clone(cudaGraph_t graph, cudaGraph_t *out);
bool graph_is(cudaGraph_t graph);
/* Whether the graph exists and all these nodes belong to it. */
bool graph_has_nodes(cudaGraph_t graph, const cudaGraphNode_t *nodes, size_t count);
/* graph_copy makes a copy that belongs to the node of another op; graph_free ends such a copy. The
 * lock is held. */
struct graph *graph_copy(const struct graph *graph);
void graph_free(struct graph *graph);

/* Adds a node that depends on the nodes `deps`. Takes ownership of the op; on failure it is freed.
 * data: of the edges, here and below; NULL: ordinary edges. */
cudaError_t graph_add(cudaGraph_t graph, const cudaGraphNode_t *deps, const cudaGraphEdgeData *data,
                      size_t count, struct op *op, cudaGraphNode_t *out);
/* Adds a copy of the other graph as one node. */
cudaError_t graph_add_child(cudaGraph_t graph, const cudaGraphNode_t *deps,
                            const cudaGraphEdgeData *data, size_t count, cudaGraph_t child,
                            cudaGraphNode_t *out);
/* Adds a conditional node with empty bodies. The bodies that are returned in the parameters belong
 * to the node. */
cudaError_t graph_add_conditional(cudaGraph_t graph, const cudaGraphNode_t *deps,
                                  const cudaGraphEdgeData *data, size_t count,
                                  struct cudaConditionalNodeParams *params, cudaGraphNode_t *out);
/* Makes *op a copy of a conditional op, with copies of its bodies. The lock is held. On an error
 * *op is empty. */
cudaError_t graph_conditional_copy(struct op *op, const struct op *from);
/* Passes the caller's hold on the condition to the graph. The condition's handle stays valid until
 * the graph, its conditional nodes, and the executable graphs made from them are gone. */
cudaError_t graph_add_condition(cudaGraph_t graph, struct condition *condition);
/* Adds edges or, if `add` is false, removes them; an edge to remove is given with its data. */
cudaError_t graph_connect(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                          const cudaGraphEdgeData *data, size_t count, bool add);
/* Whether each of `nodes` is one of `ends` or an ancestor of one. The ends belong to the graph. */
bool graph_joined(cudaGraph_t graph, const cudaGraphNode_t *ends, size_t end_count,
                  const cudaGraphNode_t *nodes, size_t count);

/* Lists, as in the runtime's interface: *count is the capacity of the arrays, and becomes the
 * number of elements returned; if the array is NULL, the number that exist. cudaErrorLossyQuery:
 * data is NULL, and some edge to be returned is not ordinary. */
cudaError_t graph_nodes(cudaGraph_t graph, bool roots, cudaGraphNode_t *nodes, size_t *count);
cudaError_t graph_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                        cudaGraphEdgeData *data, size_t *count);
cudaError_t node_neighbours(cudaGraphNode_t node, bool dependents, cudaGraphNode_t *nodes,
                            cudaGraphEdgeData *data, size_t *count);

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* Returns the node's op; what the op points to still belongs to the node. */
cudaError_t node_op(cudaGraphNode_t node, struct op *op);
/* Replaces the node's op by another of the same type. Frees the op on failure. */
cudaError_t node_set(cudaGraphNode_t node, struct op *op);
cudaError_t node_end(cudaGraphNode_t node);
cudaError_t node_child(cudaGraphNode_t node, cudaGraph_t *graph);
cudaError_t node_in_clone(cudaGraphNode_t node, cudaGraph_t clone, cudaGraphNode_t *out);

/* ---- Objects of the program: the graph takes references over, or gives them up --------------- */

cudaError_t graph_retain(cudaGraph_t graph, cudaUserObject_t object, unsigned count);
cudaError_t graph_release(cudaGraph_t graph, cudaUserObject_t object, unsigned count);
bool graph_objects_copy(cudaGraph_t graph, struct user_refs *to);

#endif

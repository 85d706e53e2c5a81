/*
 * graph.h - graphs as a program makes them: nodes and the order between them. Handles of graphs and
 * nodes name slots, and one lock guards all graphs.
 *
 * The way of a graph through this folder:
 *   graph.h       nodes, which a program adds or a stream captures (capture.h), each with an op
 *                 (op.h): what it does
 *   exec_nodes.h  instantiated: copies of the nodes, those of child graphs among them, in an order
 *                 that the edges allow
 *   exec.h        the executable graph that owns these; it is launched and changed
 *   recorded.h    the graph of the session, as the server knows it: the steps that the nodes became
 */
#ifndef GS_CUDART_GRAPH_H
#define GS_CUDART_GRAPH_H

#include "cudart/abi.h"
#include "cudart/graph/op.h"
#include "cudart/graph/user_object.h"

/* ---- Graphs: cudaErrorInvalidValue where a handle names none --------------------------------- */

cudaError_t graph_new(cudaGraph_t *out);
/* Ends the graph, unless it belongs to a child graph's node, with which it ends. */
cudaError_t graph_end(cudaGraph_t graph);
cudaError_t graph_clone(cudaGraph_t graph, cudaGraph_t *out);
bool graph_is(cudaGraph_t graph);
/* Whether there is the graph and all these nodes are its own. */
bool graph_has_nodes(cudaGraph_t graph, const cudaGraphNode_t *nodes, size_t count);
/* graph_copy makes a copy that belongs to the node of another op; graph_free ends such a copy. The
 * lock is held. */
struct graph *graph_copy(const struct graph *graph);
void graph_free(struct graph *graph);

/* Adds a node that waits for the nodes `deps`. The graph takes the op over; on failure the op is
 * freed. data: of the edges, here and below; NULL: ordinary ones. */
cudaError_t graph_add(cudaGraph_t graph, const cudaGraphNode_t *deps, const cudaGraphEdgeData *data,
                      size_t count, struct op *op, cudaGraphNode_t *out);
/* Adds a copy of the other graph as one node. */
cudaError_t graph_add_child(cudaGraph_t graph, const cudaGraphNode_t *deps,
                            const cudaGraphEdgeData *data, size_t count, cudaGraph_t child,
                            cudaGraphNode_t *out);
/* Adds a conditional node with empty bodies. The bodies that the parameters name are the node's. */
cudaError_t graph_add_conditional(cudaGraph_t graph, const cudaGraphNode_t *deps,
                                  const cudaGraphEdgeData *data, size_t count,
                                  struct cudaConditionalNodeParams *params, cudaGraphNode_t *out);
/* Makes *op a copy of a conditional op, with copies of its bodies. The lock is held. On an error
 * *op is empty. */
cudaError_t graph_conditional_copy(struct op *op, const struct op *from);
/* Gives the graph the caller's hold on the condition. The condition's handle is valid until the
 * graph has gone, its conditional nodes, and the executable graphs that were made of them. */
cudaError_t graph_add_condition(cudaGraph_t graph, struct condition *condition);
/* Adds edges, or (add false) removes them; an edge that is to be removed is named with its data. */
cudaError_t graph_connect(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                          const cudaGraphEdgeData *data, size_t count, bool add);
/* Whether all of `nodes` come before one of `ends` or are one. The ends are the graph's. */
bool graph_joined(cudaGraph_t graph, const cudaGraphNode_t *ends, size_t end_count,
                  const cudaGraphNode_t *nodes, size_t count);

/* Lists, as the runtime gives them: *count is the room of the arrays and becomes what was there; of
 * an array that is NULL, the number there is. cudaErrorLossyQuery: data is NULL, and an edge that
 * was to be given is none of the ordinary ones. */
cudaError_t graph_nodes(cudaGraph_t graph, bool roots, cudaGraphNode_t *nodes, size_t *count);
cudaError_t graph_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                        cudaGraphEdgeData *data, size_t *count);
cudaError_t node_neighbours(cudaGraphNode_t node, bool dependents, cudaGraphNode_t *nodes,
                            cudaGraphEdgeData *data, size_t *count);

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* What the node does; what the op points to stays the node's. */
cudaError_t node_op(cudaGraphNode_t node, struct op *op);
/* Gives the node another op of the same type, and frees it where that fails. */
cudaError_t node_set(cudaGraphNode_t node, struct op *op);
cudaError_t node_end(cudaGraphNode_t node);
cudaError_t node_child(cudaGraphNode_t node, cudaGraph_t *graph);
cudaError_t node_in_clone(cudaGraphNode_t node, cudaGraph_t clone, cudaGraphNode_t *out);

/* ---- Objects of the program: the graph takes references over, or gives them up --------------- */

cudaError_t graph_retain(cudaGraph_t graph, cudaUserObject_t object, unsigned count);
cudaError_t graph_release(cudaGraph_t graph, cudaUserObject_t object, unsigned count);
bool graph_objects_copy(cudaGraph_t graph, struct user_refs *to);

#endif

/*
 * exec.h - executable graphs. Any thread; each has a lock, which is held during a launch.
 *
 * An executable graph is a list of nodes (exec_nodes.h). When it is instantiated, the nodes are
 * recorded as a graph of the session (recorded.h), including branches. A launch is one message
 * then. Before it, the session gets the parameters that have changed.
 *
 * If some node is of a kind that a session's graph cannot hold (op_recordable), or a change is one
 * that it cannot take, a launch gives the nodes to the stream one by one, each as a separate call,
 * in an order that the edges allow; branches do not overlap then. A conditional node is of that
 * kind. Its bodies are executable graphs of their own, and a launch waits for the work before the
 * node, because it needs the condition's value to select a body. Nodes of several devices are also
 * given one by one, each to a stream of its own device, and a launch waits whenever the device
 * changes (stream_go_on).
 */
#ifndef GS_CUDART_EXEC_H
#define GS_CUDART_EXEC_H

#include "cudart/abi.h"
#include "cudart/graph/op.h"
#include "cudart/state/stream.h"

/* All of these return cudaErrorInvalidValue if a handle is invalid. */
cudaError_t exec_new(cudaGraph_t graph, unsigned long long flags, cudaGraphExec_t *out);
cudaError_t exec_end(cudaGraphExec_t exec);
cudaError_t exec_flags(cudaGraphExec_t exec, unsigned long long *flags);
/* Submits the graph's work to a stream that does not capture. */
cudaError_t exec_launch(cudaGraphExec_t exec, struct stream *stream);

/* Replaces the op of the executable graph's node by another of the same type. On failure the op is
 * freed. */
cudaError_t exec_set(cudaGraphExec_t exec, cudaGraphNode_t node, struct op *op);
/* Replaces the operations of the node's child graph by those of `child`, a graph of the same shape.
 */
cudaError_t exec_set_child(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child);
cudaError_t exec_enable(cudaGraphExec_t exec, cudaGraphNode_t node, bool enabled);
cudaError_t exec_enabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled);
/* Replaces each node's operation by that of the matching node in a graph of the same shape. */
cudaError_t exec_update(cudaGraphExec_t exec, cudaGraph_t graph,
                        cudaGraphExecUpdateResultInfo *info);
/* Forgets the graphs that were recorded in the session, which is gone. */
void execs_forget(void);

#endif

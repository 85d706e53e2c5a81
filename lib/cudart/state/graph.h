/*
 * graph.h - captured graphs and what was instantiated of them. A session's graph can be launched as
 * it is and does not change, so both are handles of the same one, which ends with the last.
 */
#ifndef GS_CUDART_GRAPH_H
#define GS_CUDART_GRAPH_H

#include "cudart/abi.h"
#include "gshare.h"

/* Takes the session's graph over; it ends with the call if that fails. */
cudaError_t graph_new(gs_graph graph, cudaGraph_t *handle);
cudaError_t graph_instantiate(cudaGraph_t graph, cudaGraphExec_t *handle);
cudaError_t graph_find(cudaGraphExec_t handle, gs_graph *graph);
cudaError_t graph_end(cudaGraph_t handle);
cudaError_t graph_exec_end(cudaGraphExec_t handle);
/* The session is gone, and all graphs with it. */
void graphs_forget(void);

#endif

// A run is one launch of an executable graph: its nodes' operations, and what each still waits for.
// The order among the nodes, the topology, is fixed when a graph is instantiated; the executable
// graph and all its runs share it.
#ifndef GS_SOFTCUDA_STREAM_RUN_H
#define GS_SOFTCUDA_STREAM_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "softcuda/stream/op.h"

struct topology {
    _Atomic uint32_t references;
    uint32_t count;
    uint32_t *indegree;        // for each node
    uint32_t *first_successor; // for each node, and one more
    uint32_t *successors;
    bool *early; // for each successor, as in struct edge
};

struct edge {
    uint32_t from, to; // TO waits for FROM
    bool early;        // both are kernels, and TO may begin once all blocks of FROM have allowed it
};

// Makes a topology of COUNT nodes. CUDA_ERROR_INVALID_VALUE: the edges form a cycle.
CUresult topology_new(uint32_t count, const struct edge *edges, size_t edge_count,
                      struct topology **out);
void topology_release(struct topology *t); // NULL is fine

// A run without operations; NULL: no memory. graph_run_set gives node NODE its operation.
struct graph_run *graph_run_new(struct topology *t);
void graph_run_set(struct graph_run *run, uint32_t node, struct op *op);
// For a run that was never started, or whose nodes are all done. NULL is allowed.
void graph_run_free(struct graph_run *run);

// Both are called with the scheduling lock, and add the operations that may start now to READY.

// Starts the run of WHOLE, the operation of a graph launch. False: it has no nodes, so it is
// complete.
bool graph_run_start(struct op *whole, struct op_list *ready);
// The blocks of the node's grid have allowed dependent grids to begin: see struct edge.
void graph_run_node_lets_go(struct graph_run *run, uint32_t node, struct op_list *ready);
// Returns the operation of the graph launch if this was its last node, else NULL.
struct op *graph_run_node_done(struct graph_run *run, uint32_t node, struct op_list *ready);

#endif

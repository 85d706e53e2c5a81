/*
 * exec_pairs.h - matches the nodes of an executable graph with those of a graph of the same shape.
 * As CUDA's documentation says, the nodes on which no other one depends are paired in the order of
 * creation, and then the dependencies of two paired nodes, in the order of their edges.
 */
#ifndef GS_CUDART_EXEC_PAIRS_H
#define GS_CUDART_EXEC_PAIRS_H

#include "cudart/abi.h"
#include "cudart/graph/exec_nodes.h"

/* Pairs own nodes, from `first` on, with all of the others. first is 0, or the first node of a
 * child graph. *own_of has the own node's index for each of the others; the caller frees it; it is
 * only set on success. cudaErrorGraphExecUpdateFailure: the shapes differ; info says where. */
cudaError_t exec_pairs_make(const struct exec_nodes *own, size_t first,
                            const struct exec_nodes *other, size_t **own_of,
                            cudaGraphExecUpdateResultInfo *info);

#endif

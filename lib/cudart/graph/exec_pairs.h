/*
 * exec_pairs.h - which node of an executable graph takes the operation of which node of a graph of
 * the same shape. CUDA's documentation pairs the nodes that no other one waits for in the order in
 * which they were made, and then what two paired nodes wait for, in the order of their edges.
 */
#ifndef GS_CUDART_EXEC_PAIRS_H
#define GS_CUDART_EXEC_PAIRS_H

#include "cudart/abi.h"
#include "cudart/graph/exec_nodes.h"

/* Pairs as many own nodes, from `first` on, as there are others. first is 0, or the first node of a
 * child graph. *own_of, the own nodes' numbers by the others', is the caller's to free(), and is
 * set on success alone. cudaErrorGraphExecUpdateFailure: the shapes differ; info tells where. */
cudaError_t exec_pairs_make(const struct exec_nodes *own, size_t first,
                            const struct exec_nodes *other, size_t **own_of,
                            cudaGraphExecUpdateResultInfo *info);

#endif

/*
 * green_context.h - the driver's objects of a partition: a green context, and a stream and events
 * for work that goes without a graph.
 */
#ifndef GS_WORKER_PARTITION_GREEN_CONTEXT_H
#define GS_WORKER_PARTITION_GREEN_CONTEXT_H

#include "worker/partition/partition.h"

/* Makes the driver's objects of a partition with the SMs of partition->mask. On failure the caller
 * destroys those that were made with green_context_deinit. Both are called by a service thread at a
 * quiet moment. */
CUresult green_context_init(struct partition *partition);
/* Destroys those of the partition's objects that exist. */
void green_context_deinit(struct partition *partition);

/* Keep work on partition->aside in the order of the tenant's stream, if it is submitted between the
 * two calls: partition_aside_begin makes the partition's stream wait for the tenant's stream, and
 * partition_aside_end makes the tenant's stream wait for the partition's. Called by a lane. */
CUresult partition_aside_begin(const struct partition *partition, CUstream stream);
CUresult partition_aside_end(const struct partition *partition, CUstream stream);

/* Makes a green context of all SMs for a lane. It is not in the table, has id 0, and is never
 * destroyed. Called at the worker's start. */
CUresult partition_whole(struct partition *partition);

#endif

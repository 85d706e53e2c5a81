/*
 * green_context.h - the driver's objects of a partition.
 */
#ifndef GS_WORKER_PARTITION_GREEN_CONTEXT_H
#define GS_WORKER_PARTITION_GREEN_CONTEXT_H

#include "worker/partition/partition.h"

/* Makes the objects of partition->mask. On failure, those that were made remain, for
 * green_context_deinit. Called by a service thread at a quiet moment, as is the next. */
CUresult green_context_init(struct partition *partition);
/* Destroys the objects that there are. */
void green_context_deinit(struct partition *partition);

/* Work that is submitted to partition->aside between the two calls keeps its position in the
 * tenant's stream: the partition's stream waits for the tenant's, and afterwards the tenant's for
 * the partition's. Called by a lane. */
CUresult partition_aside_begin(const struct partition *partition, CUstream stream);
CUresult partition_aside_end(const struct partition *partition, CUstream stream);

/* Makes a green context of all SMs for a lane. It is in no table, has id 0, and is never destroyed.
 * Called at the start. */
CUresult partition_whole(struct partition *partition);

#endif

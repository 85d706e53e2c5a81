/* sm_topology.h - the groups of SMs that partitions are made of; see sm_topology.c. */
#ifndef GS_WORKER_PARTITION_SM_TOPOLOGY_H
#define GS_WORKER_PARTITION_SM_TOPOLOGY_H

#include "common/sm_groups.h"
#include "worker/session_parts.h"

/* Once, with the primary context current, before any thread starts: fills worker.info.sm_groups,
 * .sm_granularity and .sm_group; all zero, with a line in the log that says why, where the device
 * has no partitions or its answers do not fit together. */
void sm_topology_find(void);

/* The driver's description of these SMs, whole groups all. Any thread. */
CUresult sm_topology_describe(const struct sm_mask *mask, CUdevResourceDesc *desc);

#endif

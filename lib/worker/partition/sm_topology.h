/* sm_topology.h - the groups of SMs that partitions consist of; see sm_topology.c. */
#ifndef GS_WORKER_PARTITION_SM_TOPOLOGY_H
#define GS_WORKER_PARTITION_SM_TOPOLOGY_H

#include "common/sm_groups.h"
#include "worker/session_parts.h"

/* Finds the groups and fills found->info.sm_groups, .sm_granularity and .sm_group, and
 * found->partition_lost. Where the device has no partitions or its answers contradict each other,
 * all are zero and the log says why. Called once, with the primary context current, before any
 * thread starts. */
void sm_topology_find(struct worker *found);

/* Makes the driver's resource description of these SMs, which must be whole groups. Any thread. */
CUresult sm_topology_describe(const struct sm_mask *mask, CUdevResourceDesc *desc);

#endif

/* groups.h - the groups of SMs that partitions are made of; see groups.c. */
#ifndef GS_WORKER_GROUPS_H
#define GS_WORKER_GROUPS_H

#include "common/sm_groups.h"
#include "worker/worker.h"

/* Once, with the primary context current, before any thread starts: fills worker.info.sm_groups,
 * .sm_granularity and .sm_group; all zero, with a line in the log that says why, where the device
 * has no partitions or its answers do not fit together. */
void groups_find(void);

/* The driver's description of these SMs, whole groups all. Any thread. */
CUresult groups_describe(const struct sm_mask *mask, CUdevResourceDesc *desc);

#endif

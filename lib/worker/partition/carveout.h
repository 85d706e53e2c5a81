/* carveout.h - how SMs divide their memory for a kernel; see carveout.c. */
#ifndef GS_WORKER_PARTITION_CARVEOUT_H
#define GS_WORKER_PARTITION_CARVEOUT_H

#include "worker/session_parts.h"

/* Once, before the first kernel. */
CUresult carveout_init(void);

/* How many threads with so many registers an SM can hold. */
uint32_t carveout_threads(uint32_t registers);

/* The kernel is about to be launched with blocks like this. Any thread. */
void carveout_fit(struct kernel *kernel, uint32_t threads, uint32_t dynamic_smem);

#endif

/*
 * carveout.h - the shared-memory carveout: how an SM divides its memory between L1 cache and shared
 * memory for a kernel; see carveout.c.
 */
#ifndef GS_WORKER_PARTITION_CARVEOUT_H
#define GS_WORKER_PARTITION_CARVEOUT_H

#include "worker/session_parts.h"

/* Reads the device's limits. Called once, before the first kernel. */
CUresult carveout_init(void);

/* Returns how many threads an SM can hold when each uses `registers` registers. */
uint32_t carveout_threads(uint32_t registers);

/* Sets the carveout of a kernel that is about to be launched with blocks of `threads` threads and
 * `dynamic_smem` bytes of dynamic shared memory. Any thread. */
void carveout_fit(struct kernel *kernel, uint32_t threads, uint32_t dynamic_smem);

#endif

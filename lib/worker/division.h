/* division.h - how SMs divide their memory for a kernel; see division.c. */
#ifndef GS_WORKER_DIVISION_H
#define GS_WORKER_DIVISION_H

#include "worker/worker.h"

/* Once, before the first kernel. */
CUresult division_init(void);

/* How many threads with so many registers an SM can hold. */
uint32_t division_threads(uint32_t registers);

/* The kernel is about to be launched with blocks like this. Any thread. */
void division_fit(struct kernel *kernel, uint32_t threads, uint32_t dynamic_smem);

#endif

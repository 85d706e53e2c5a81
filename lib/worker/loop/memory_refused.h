/* memory_refused.h - logs requests that were refused for want of memory; see memory_refused.c. */
#ifndef GS_WORKER_LOOP_MEMORY_REFUSED_H
#define GS_WORKER_LOOP_MEMORY_REFUSED_H

#include "worker/jobs/job.h"

/* Logs a request that a memory limit, or the device's own memory, has refused. Called by a lane. */
void memory_refused_log(const struct job *job);

#endif

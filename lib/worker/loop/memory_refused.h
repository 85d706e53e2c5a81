/* memory_refused.h - a line of the log where a tenant gets no memory: see memory_refused.c. */
#ifndef GS_WORKER_LOOP_MEMORY_REFUSED_H
#define GS_WORKER_LOOP_MEMORY_REFUSED_H

#include "worker/jobs/job.h"

/* Says it where the request has failed for a limit of memory, or for the device's. A lane. */
void memory_refused_log(const struct job *job);

#endif

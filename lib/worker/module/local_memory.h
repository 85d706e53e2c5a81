/* local_memory.h - what kernels' local memory takes of the device; see local_memory.c. Service
 * threads. */
#ifndef GS_WORKER_MODULE_LOCAL_MEMORY_H
#define GS_WORKER_MODULE_LOCAL_MEMORY_H

#include <stdint.h>

#include "worker/session_parts.h"

struct job;

/* Whether the session may have a kernel whose threads take so many bytes each, beside the stack of
 * calls whose depth the compiler cannot tell. If not, the job has failed. */
gs_status local_memory_check(struct job *job, uint32_t bytes);

/* Gives the session the stack that its journal names, before its modules are loaded; at a quiet
 * moment. On failure the job has failed. */
gs_status stack_resume(struct job *job);

#endif

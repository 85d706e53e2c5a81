/* local_memory.h - the device memory that the local memory of kernels takes; see local_memory.c.
 * Service threads. */
#ifndef GS_WORKER_MODULE_LOCAL_MEMORY_H
#define GS_WORKER_MODULE_LOCAL_MEMORY_H

#include <stdint.h>

#include "worker/session_parts.h"

struct job;

/* Checks that the session may have a kernel whose threads take `bytes` of local memory each, beside
 * the stack of calls whose depth the compiler cannot tell. On failure the job has failed. */
gs_status local_memory_check(struct job *job, uint32_t bytes);

/* Gives kernels of a fenced module, whose frames take `frames` bytes of the stack, as much stack as
 * they would have without the fence, as far as the user's limits and the device allow. At a quiet
 * moment. */
void stack_make_up(struct session *session, uint64_t frames);

/* Gives the session the stack that its journal names, before its modules are loaded; at a quiet
 * moment. On failure the job has failed. */
gs_status stack_resume(struct job *job);

#endif

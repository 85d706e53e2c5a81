/* heap.h - the heap that a session's kernels allocate from; see heap.c. Service threads. */
#ifndef GS_WORKER_MODULE_HEAP_H
#define GS_WORKER_MODULE_HEAP_H

#include "worker/session_parts.h"

struct job;

/* Makes the session's heap, if the module's kernels allocate and the session has none. Called when
 * memory may be mapped in the session's window. On failure the job has failed. */
gs_status heap_open(struct job *job, const struct module *module);
/* Finds the heap that a former worker has made, after the session's memory and before its modules
 * are restored. On failure the job has failed. */
gs_status heap_resume(struct job *job);
/* Tells a loaded module where the heap is, if its kernels allocate. */
CUresult heap_bind(const struct session *session, const struct module *module);

#endif

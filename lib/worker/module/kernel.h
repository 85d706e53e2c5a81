/* kernel.h - the kernels and global variables of a session's modules; see kernel.c. */
#ifndef GS_WORKER_MODULE_KERNEL_H
#define GS_WORKER_MODULE_KERNEL_H

#include "worker/session_parts.h"

/* Finds the kernels and variables that the session's journal names in its modules, which are
 * loaded. On failure the job has failed. */
gs_status kernels_resume(struct job *job);
/* Takes the module's variables out of what copies may name, without a look at all that a tenant has
 * there. Main lane. */
void variables_forget(struct session *session, struct module *module);
/* Frees the records of a module's kernels and variables. The session's table of kernels names none
 * of them any more, or is never used again. */
void kernels_free(struct module *module);

#endif

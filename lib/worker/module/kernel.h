/* kernel.h - the kernels and global variables of a session's modules; see kernel.c. */
#ifndef GS_WORKER_MODULE_KERNEL_H
#define GS_WORKER_MODULE_KERNEL_H

#include "worker/session_parts.h"

/* Lists the kernels and variables that the session's journal names. On failure the job has failed.
 */
gs_status kernels_list(struct job *job);
/* Finds these in the session's modules, which are loaded: the next one, and others until then. On
 * failure the job has failed. */
gs_status kernels_resume(struct job *job, uint64_t until);
/* Takes so many of the module's kernels out of the session's table at most, and as many of its
 * variables out of what copies may name. Returns the kernels, for kernels_free. Main lane. */
struct kernel *kernels_remove(struct session *session, struct module *module, uint32_t most);
/* Whether the module has any of these. */
bool kernels_left(const struct module *module);
/* Frees the records of kernels that the session's table does not name. Service threads. */
void kernels_free(struct kernel *first);
/* Frees the records of a module's kernels and variables. The session's table of kernels names none
 * of them any more, or is never used again. */
void kernels_deinit(struct module *module);

#endif

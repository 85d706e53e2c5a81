/* kernel.h - the kernels and global variables of a session's modules; see kernel.c. */
#ifndef GS_WORKER_MODULE_KERNEL_H
#define GS_WORKER_MODULE_KERNEL_H

#include "worker/session_parts.h"

/* Lists the kernels and variables that the session's journal names, in resume->names. On failure
 * the job has failed. */
gs_status kernels_list(struct job *job);
/* Resolves the listed names in the session's loaded modules: the next one, and others until the
 * time `until`. On failure the job has failed. */
gs_status kernels_resume(struct job *job, uint64_t until);
/* Removes up to `most` of the module's kernels from the session's table, and as many of its
 * variables from the table of what copies may name. Returns the kernels, for kernels_free. Main
 * lane. */
struct kernel *kernels_remove(struct session *session, struct module *module, uint32_t most);
/* Returns whether the module has kernels or variables left in these tables. */
bool kernels_left(const struct module *module);
/* Frees a list of records of kernels that the session's table does not have. Service threads. */
void kernels_free(struct kernel *first);
/* Frees the records of a module's kernels and variables. The session's table of kernels names none
 * of them any more, or is never used again. */
void kernels_deinit(struct module *module);

#endif

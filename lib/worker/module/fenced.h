/*
 * fenced.h - the steps of loading a module whose kernels are fenced into their session's window
 * (ptx/rewrite): its global variables lie in the window, and a constant of the module says where
 * the window is. Run by a job's work, on a service thread.
 */
#ifndef GS_WORKER_MODULE_FENCED_H
#define GS_WORKER_MODULE_FENCED_H

#include "worker/session_parts.h"

struct job;
struct module;

/* Checks the size and alignment of the module's variables, and covers the session's window, which
 * takes a while and so precedes the quiet moment in which the module is loaded. Does nothing for a
 * module that is not fenced. On failure the job has failed. */
gs_status fenced_prepare(struct job *job, const struct module *module);
/* Places the module's variables in the window and writes their initial values, except for addresses
 * of functions and addresses in constants. At a quiet moment, since memory is mapped. On failure
 * the job has failed, and fenced_free undoes what was done. */
gs_status fenced_place(struct job *job, struct module *module);
/* Tells the loaded module where the window is, now and whenever its open part grows. Does nothing
 * for a module that is not fenced. */
CUresult fenced_bind(struct session *session, struct module *module);
/* Frees the memory of the module's variables, and stops telling the module about the open part. */
void fenced_free(struct session *session, struct module *module);

/* Returns the address and size of a variable that fenced_place has placed. False: none has this
 * name. */
bool fenced_variable(const struct module *module, const char *name, uint64_t *address,
                     uint64_t *size);

#endif

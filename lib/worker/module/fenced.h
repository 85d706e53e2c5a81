/*
 * fenced.h - loads a module whose kernels are fenced into their session's window (ptx/rewrite): its
 * global variables lie in the window, and a constant of the module says where the window is. A
 * job's work, on a service thread.
 */
#ifndef GS_WORKER_MODULE_FENCED_H
#define GS_WORKER_MODULE_FENCED_H

#include "worker/session_parts.h"

struct job;
struct module;

/* Checks what the module's variables ask for, and covers the session's window, which takes a while:
 * before the quiet moment in which the module is loaded. Nothing to do where the module is not
 * fenced. On failure the job has failed. */
gs_status fenced_prepare(struct job *job, const struct module *module);
/* Gives the module's variables their place in the window, and their initial values but for
 * addresses of functions and in constants. At a quiet moment, since memory is mapped. On failure
 * the job has failed, and fenced_free undoes what was done. */
gs_status fenced_place(struct job *job, struct module *module);
/* Tells the loaded module where the window is, now and whenever more of it is opened. Nothing to do
 * where it is not fenced. */
CUresult fenced_bind(struct session *session, struct module *module);
/* Frees the memory of the module's variables, and tells the module nothing any more. */
void fenced_free(struct session *session, struct module *module);

/* The place of a variable that fenced_place has placed. False: it has not placed one of this name.
 */
bool fenced_variable(const struct module *module, const char *name, uint64_t *address,
                     uint64_t *size);

#endif

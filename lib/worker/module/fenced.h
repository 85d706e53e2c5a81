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

/* Covers the session's window, and gives the module's variables their place there and their initial
 * values, but for addresses of functions. Nothing to do where the module is not fenced. On failure
 * the job has failed, and fenced_free undoes what was done. */
gs_status fenced_place(struct job *job, struct module *module);
/* Tells the loaded module where the window is. Nothing to do where it is not fenced. */
CUresult fenced_bind(const struct session *session, const struct module *module);
/* Frees the memory of the module's variables. */
void fenced_free(struct session *session, struct module *module);

/* The place of a variable that fenced_place has placed. False: it has not placed one of this name.
 */
bool fenced_variable(const struct module *module, const char *name, uint64_t *address,
                     uint64_t *size);

#endif

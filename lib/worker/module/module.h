/* module.h - loads and unloads a session's modules; see module.c. */
#ifndef GS_WORKER_MODULE_MODULE_H
#define GS_WORKER_MODULE_MODULE_H

#include "worker/session_parts.h"

/* The next three functions restore the modules that the session's journal names, in three steps. On
 * failure the job has failed, and modules_deinit undoes what was done.
 *
 * Prepares the modules whose machine code is in the code cache, all but the part that needs a quiet
 * moment. Stops at a module that has to be compiled, or when the session's time is over: then the
 * session is late (memory/resume.h). */
gs_status modules_resume(struct job *job);
/* Prepares the other modules of a late session, which may compile them. */
gs_status modules_resume_late(struct job *job);
/* Loads the modules and finds the kernels, at a quiet moment; only some of them where that takes
 * long, and then the session is late. */
gs_status modules_resume_load(struct job *job);
/* Returns whether modules_resume_load has left modules or kernels for another call. */
bool modules_unloaded(const struct session *session);
/* Ends the restoring, once all modules are loaded. Main lane. */
void modules_resumed(struct session *session);
/* Unloads all modules of a session, after the device has finished with them. Service thread. */
void modules_deinit(struct session *session);

#endif

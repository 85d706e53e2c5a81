/* module.h - loads and unloads a session's modules; see module.c. */
#ifndef GS_WORKER_MODULE_MODULE_H
#define GS_WORKER_MODULE_MODULE_H

#include "worker/session_parts.h"

/* Make the modules that the session's journal names, in three steps. On failure the job has failed,
 * and modules_deinit undoes what was done.
 *
 * The modules whose machine code is kept, up to what the driver must do at a quiet moment. Stops at
 * one that has to be compiled, or when the session has had its time: then the session is late
 * (memory/resume.h). */
gs_status modules_resume(struct job *job);
/* The others, for a session that is late. */
gs_status modules_resume_late(struct job *job);
/* What the driver must do at a quiet moment, and the kernels; only a part where that takes long,
 * and then the session is late. */
gs_status modules_resume_load(struct job *job);
/* Whether modules_resume_load has left a part to be done. */
bool modules_unloaded(const struct session *session);
/* Main lane, once all is there. */
void modules_resumed(struct session *session);
/* Unloads all modules of a session, after the device has finished with them. Service thread. */
void modules_deinit(struct session *session);

#endif

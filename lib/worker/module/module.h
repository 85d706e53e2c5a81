/* module.h - loads and unloads a session's modules; see module.c. */
#ifndef GS_WORKER_MODULE_MODULE_H
#define GS_WORKER_MODULE_MODULE_H

#include "worker/session_parts.h"

/* Makes the modules that the session's journal names, up to what the driver must do at a quiet
 * moment; then, in such a moment, the rest, and their kernels. On failure the job has failed, and
 * modules_deinit undoes what was done. */
gs_status modules_resume(struct job *job);
gs_status modules_resume_load(struct job *job);
/* Unloads all modules of a session, after the device has finished with them. Service thread. */
void modules_deinit(struct session *session);

#endif

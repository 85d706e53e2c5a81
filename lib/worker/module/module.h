/* module.h - a session's modules and kernels; see module.c. */
#ifndef GS_WORKER_MODULE_MODULE_H
#define GS_WORKER_MODULE_MODULE_H

#include "worker/session_parts.h"

/* Unloads all modules of a session. Service thread, after the device has finished with them. */
void modules_deinit(struct session *session);

#endif

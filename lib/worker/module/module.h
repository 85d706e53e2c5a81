/* module.h - loads and unloads a session's modules; see module.c. */
#ifndef GS_WORKER_MODULE_MODULE_H
#define GS_WORKER_MODULE_MODULE_H

#include "worker/session_parts.h"

/* Unloads all modules of a session, after the device has finished with them. Service thread. */
void modules_deinit(struct session *session);

#endif

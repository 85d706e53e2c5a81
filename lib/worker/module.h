/* module.h - a session's modules and kernels; see module.c. */
#ifndef GS_WORKER_MODULE_H
#define GS_WORKER_MODULE_H

#include "worker/worker.h"

/* Unloads all modules of a session. Service thread, after the device has finished with them. */
void module_close(struct session *session);

#endif

/* host.h - host memory shared with a tenant; see host.c. */
#ifndef GS_WORKER_HOST_H
#define GS_WORKER_HOST_H

#include "worker/worker.h"

/* The block with that number, or NULL. Dispatcher; or a job, as worker.h says. */
struct host_block *host_find(const struct session *session, uint64_t number);
/* Frees all blocks of a session. Service thread, after the device has finished with them. */
void host_close(struct session *session);

#endif

/* memory.h - opening and closing a session's window; see memory.c. Service threads. */
#ifndef GS_WORKER_MEMORY_H
#define GS_WORKER_MEMORY_H

#include "worker/job.h"

/* Reserves the session's range of device addresses; may lower mem_limit to what fits. */
gs_status window_open(struct job *job);
/* Frees all that the session has allocated, then its range. Safe when window_open failed. */
void window_close(struct session *session);

#endif

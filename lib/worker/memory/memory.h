/* memory.h - opening and closing a session's window; see memory.c. Service threads. */
#ifndef GS_WORKER_MEMORY_MEMORY_H
#define GS_WORKER_MEMORY_MEMORY_H

#include "worker/jobs/job.h"

/* Reserves the session's range of device addresses; may lower mem_limit to what fits. */
gs_status window_init(struct job *job);
/* Frees all that the session has allocated, then its range. Safe when window_init failed. */
void window_deinit(struct session *session);

/* What a session may hold, in bytes. */
struct limits {
    uint64_t session;
    uint64_t user; /* all sessions of its user together; 0: no limit */
};
/* Sets them, 0 for none. Lower ones than what is in use only stop further allocations. Returns the
 * session's as it holds: the device, or the window once it is open, may be smaller. Any thread;
 * does not wait. */
uint64_t memory_limit_set(struct session *session, uint64_t mem_limit, uint64_t user_mem_limit);
struct limits memory_limits(const struct session *session);

#endif

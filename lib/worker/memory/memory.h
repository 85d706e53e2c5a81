/* memory.h - opening and closing a session's window; see memory.c. Service threads. */
#ifndef GS_WORKER_MEMORY_MEMORY_H
#define GS_WORKER_MEMORY_MEMORY_H

#include "worker/jobs/job.h"

/* Reserves the session's range of device addresses, its window; may lower mem_limit to what
 * fits. */
gs_status window_init(struct job *job);
/* Covers all of the window that has no memory with sinks, from now on; before the first kernel that
 * is fenced into the window. On failure the job has failed, and nothing is covered. */
gs_status window_cover(struct job *job);
/* Frees all that the session has allocated, then its window. Safe when window_init failed. */
void window_deinit(struct session *session);

/* Allocates zeroed memory in the window, charged, of at most the device's size; align is a power of
 * two, the driver's granularity at most. On failure the job has failed. */
gs_status memory_take(struct job *job, uint64_t size, uint64_t align, uint64_t *address);
/* Takes the place of an allocation that a former worker has made. False: it has none. */
bool memory_place(struct session *session, uint64_t address, uint64_t size);
/* Frees what memory_take gave. */
void memory_give(struct session *session, uint64_t address);

/* What a session may hold, in bytes. */
struct limits {
    uint64_t session;
    uint64_t user; /* of all sessions of the user together; 0: no limit */
};
/* Sets the limits; 0: none. Limits below what is in use only stop further allocations. Returns the
 * session's limit as it holds, since the device, or the window once it is open, may be smaller. Any
 * thread; does not wait. */
uint64_t memory_limit_set(struct session *session, uint64_t mem_limit, uint64_t user_mem_limit);
struct limits memory_limits(const struct session *session);

#endif

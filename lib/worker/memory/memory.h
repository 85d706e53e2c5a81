/* memory.h - a session's allocations; see memory.c. Service threads. */
#ifndef GS_WORKER_MEMORY_MEMORY_H
#define GS_WORKER_MEMORY_MEMORY_H

#include "worker/jobs/job.h"
#include "worker/memory/server_memory.h"

/* The server memory that an allocation counts as: its records. */
#define ALLOCATION_SERVER_BYTES 192u

/* Allocates zeroed memory in the window, charged, of at most the device's size; align is a power of
 * two, the driver's granularity at most. On failure the job has failed. */
gs_status memory_take(struct job *job, uint64_t size, uint64_t align, uint64_t *address);
/* Charges for the records of an allocation that is not made by gs_malloc, or was by a former
 * worker. */
static inline void memory_record_adopt(struct session *session)
{
    server_memory_adopt(session, ALLOCATION_SERVER_BYTES);
}
/* Takes up an allocation that a former worker has made, at its place. False: no chunk has that
 * place. */
bool memory_adopt(struct session *session, uint64_t address, uint64_t size);
/* Frees what memory_take gave. */
void memory_give(struct session *session, uint64_t address);

#endif

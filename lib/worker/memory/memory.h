/* memory.h - a session's allocations of device memory; see memory.c. Service threads. */
#ifndef GS_WORKER_MEMORY_MEMORY_H
#define GS_WORKER_MEMORY_MEMORY_H

#include "worker/jobs/job.h"
#include "worker/memory/server_memory.h"

/* The server memory (server_memory.h) that an allocation's records count as. */
#define ALLOCATION_SERVER_BYTES 192u

/* Allocates zeroed memory in the window, at most the device's size, and charges for it. align: a
 * power of two, the driver's granularity at most. On failure the job has failed. */
gs_status memory_take(struct job *job, uint64_t size, uint64_t align, uint64_t *address);
/* Charges for the records of an allocation that gs_malloc did not make, or that a former worker
 * made. */
static inline void memory_record_adopt(struct session *session)
{
    server_memory_adopt(session, ALLOCATION_SERVER_BYTES);
}
/* Enters a former worker's allocation into the chunk that contains it. False: no chunk does, or the
 * place is taken. */
bool memory_adopt(struct session *session, uint64_t address, uint64_t size);
/* Frees an allocation of memory_take's. */
void memory_give(struct session *session, uint64_t address);

#endif

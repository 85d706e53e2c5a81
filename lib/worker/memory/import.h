/*
 * import.h - imports: memory of other sessions mapped in a session's window; see import.c. Service
 * threads.
 */
#ifndef GS_WORKER_MEMORY_IMPORT_H
#define GS_WORKER_MEMORY_IMPORT_H

#include "worker/jobs/job.h"

/* Takes the import's number again at a takeover, before the import's chunk is made. On failure the
 * job has failed. */
gs_status import_resume(struct job *job, uint32_t number);
/* Frees the number of an import that has ended. */
void import_free(struct session *session, uint32_t number);

#endif

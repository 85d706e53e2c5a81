/*
 * import.h - memory of another session in a session's window; see import.c. Service threads.
 */
#ifndef GS_WORKER_MEMORY_IMPORT_H
#define GS_WORKER_MEMORY_IMPORT_H

#include "worker/jobs/job.h"

/* Notes an import of a former worker's by its number, before its chunk is made again. On failure
 * the job has failed. */
gs_status import_resume(struct job *job, uint32_t number);
/* Forgets a freed import by its number. */
void import_free(struct session *session, uint32_t number);

#endif

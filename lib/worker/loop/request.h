/* request.h - takes and answers tenants' synchronous requests; see request.c. Called by the main
 * lane. */
#ifndef GS_WORKER_LOOP_REQUEST_H
#define GS_WORKER_LOOP_REQUEST_H

#include "worker/jobs/job.h"

/* Copies the posted request out of the segment into a new job. Returns NULL when no request is
 * posted, or when it was refused at once because it is malformed or memory is lacking. */
struct job *request_take(struct session *session);
/* Writes the job's answer into the segment and wakes the tenant. */
void request_answer(const struct job *job);

#endif

/* request.h - a tenant's synchronous requests; see request.c. Main lane. */
#ifndef GS_WORKER_LOOP_REQUEST_H
#define GS_WORKER_LOOP_REQUEST_H

#include "worker/jobs/job.h"

/* Copies the posted request out of the segment into a job. NULL: none is posted, or it was refused
 * at once because it makes no sense or there is no memory. */
struct job *request_take(struct session *session);
/* Writes the job's answer into the segment and wakes the tenant. */
void request_answer(const struct job *job);

#endif

/*
 * retire.h - makes room for another worker. Once the device has finished all work and no service
 * thread has a job, the process ends, and the next worker takes the sessions up. Main lane.
 */
#ifndef GS_WORKER_SESSION_RETIRE_H
#define GS_WORKER_SESSION_RETIRE_H

#include "worker/jobs/job.h"

/* arg[0]: 1 where sessions that cannot be taken up are to end with the worker. */
extern const struct job_kind job_retire;

/* Takes the job on: it waits for a quiet moment, and then ends the process or is refused. */
void retire_step(struct job *job);

#endif

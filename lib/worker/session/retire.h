/*
 * retire.h - ends this worker in favour of the next one. Once the device has finished all work and
 * no service thread has a job, the process ends, and the next worker resumes the sessions. Called
 * by the main lane.
 */
#ifndef GS_WORKER_SESSION_RETIRE_H
#define GS_WORKER_SESSION_RETIRE_H

#include "worker/jobs/job.h"

/* arg[0]: 1 if sessions that cannot be resumed shall end with the worker; 0: they prevent the
 * retirement. */
extern const struct job_kind job_retire;

/* Takes the job's next step: waits for a quiet moment, and then ends the process, or refuses. */
void retire_step(struct job *job);

#endif

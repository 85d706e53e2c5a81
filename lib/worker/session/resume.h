/*
 * resume.h - takes up a session whose worker was lost, from its journal and the vault; see
 * resume.c.
 */
#ifndef GS_WORKER_SESSION_RESUME_H
#define GS_WORKER_SESSION_RESUME_H

#include <stdbool.h>

#include "worker/jobs/job.h"

/* The first of the jobs that take a session up. */
extern const struct job_kind job_resume;

/* Whether the job is one of these. */
bool resume_is_job(const struct job *job);
/* Whether the session is to enter the table now, since the others are not to wait for the rest. */
bool resume_late(const struct job *job);
/* Makes the job the next one, or the same once more. False: there is none. */
bool resume_next(struct job *job);
/* Ends the taking up, whether it failed or not: what the supervisor has handed over is closed. Main
 * lane, before the session takes its first record. */
void resume_end(struct job *job);

#endif

/*
 * resume.h - resumes a session whose worker was lost, from its journal and the vault; see resume.c.
 */
#ifndef GS_WORKER_SESSION_RESUME_H
#define GS_WORKER_SESSION_RESUME_H

#include <stdbool.h>

#include "worker/jobs/job.h"

/* The first of the jobs that resume a session. */
extern const struct job_kind job_resume;

/* Returns whether the job is one of those that resume a session. */
bool resume_is_job(const struct job *job);
/* Returns whether the job's session must enter the session table now, before it is complete, so
 * that the other sessions need not wait for it. */
bool resume_late(const struct job *job);
/* Turns the job into the next one, or into another try of the same. Returns false if there is
 * none. */
bool resume_next(struct job *job);
/* Ends the resumption, whether it succeeded or failed, and closes what the supervisor has handed
 * over for it. Called by the main lane, before the session takes its first record. */
void resume_end(struct job *job);

#endif

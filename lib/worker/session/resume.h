/*
 * resume.h - takes up a session whose worker was lost, from its journal and the vault; see
 * resume.c.
 */
#ifndef GS_WORKER_SESSION_RESUME_H
#define GS_WORKER_SESSION_RESUME_H

#include <stdbool.h>

#include "worker/jobs/job.h"

/* The first of three jobs; each one's `then` is the next. */
extern const struct job_kind job_resume;

/* Whether the job is one of them. */
bool resume_is_job(const struct job *job);
/* Ends the taking up, whether it failed or not: what the supervisor has handed over is closed. Main
 * lane, before the session takes its first record. */
void resume_end(struct job *job);

#endif

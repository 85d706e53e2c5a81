/*
 * chore.h - chores (JOB_CHORE): jobs on a session that its tenant did not ask for; see chore.c.
 * Main lane.
 */
#ifndef GS_WORKER_SESSION_CHORE_H
#define GS_WORKER_SESSION_CHORE_H

#include "worker/jobs/job.h"

/* Lets a job, whose session is set, wait until it may begin. With JOB_PAUSE, a job is dropped if
 * one of its kind waits for the session already. */
void chore_add(struct job *job);
/* Whether any chore waits. */
bool chores_any(void);
/* The next chore that its session is to do now; NULL: none. The caller repeats the call until it
 * returns NULL. */
struct job *chore_due(uint64_t now);
/* Whether the session's new work waits: for a chore, or since the session is still taken up. */
bool chores_pause(const struct session *session);
/* Drops the chores of a session that is being closed. */
void chores_cancel(const struct session *session);

#endif

/*
 * chore.h - chores (JOB_CHORE): jobs on a session that its tenant did not ask for; see chore.c.
 * Called by the main lane.
 */
#ifndef GS_WORKER_SESSION_CHORE_H
#define GS_WORKER_SESSION_CHORE_H

#include "worker/jobs/job.h"

/* Adds a chore, whose session is set, to those that wait. With JOB_PAUSE, drops the chore if one of
 * the same kind waits for the session already. */
void chore_add(struct job *job);
/* Returns whether any chore waits. */
bool chores_any(void);
/* Returns the next chore that may begin now, as its session's current job or beside it; NULL: none
 * may. The caller repeats the call until it returns NULL. */
struct job *chore_due(uint64_t now);
/* Returns whether the session's new work must wait, for a chore or because the session is still
 * being resumed. */
bool chores_pause(const struct session *session);
/* Drops the chores of a session that is being closed. */
void chores_cancel(const struct session *session);

#endif

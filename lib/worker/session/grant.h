/*
 * grant.h - grants: what a session may use (SMs, class, priority, weight, memory); see grant.c.
 * Called by the main lane.
 */
#ifndef GS_WORKER_SESSION_GRANT_H
#define GS_WORKER_SESSION_GRANT_H

#include "worker/partition/partition.h"

/* Returns whether the grant names SMs, which it does only if it is for less than the whole device.
 * Called by any thread. */
bool grant_has_mask(const struct link_grant *grant);
/* Applies the job's grant, from the session's next launch on. Takes over the job's partition, which
 * must be ready. */
void grant_apply(struct job *job);
/* Releases the partitions that a closed session's grant holds. */
void grant_deinit(struct session *session);

/* Takes over a new job_grant or job_open_partition, whose session is set. Replaces a waiting grant
 * of the session. */
void grant_take(struct job *job);
/* Continues the jobs whose partition has been made or has failed, and fails those whose client
 * gives up. Cheap to call often. */
void grants_poll(uint64_t now);
/* Returns whether any grant waits for its partition. */
bool grants_any(void);
/* Fails and answers the waiting grant of a session that is being closed. */
void grant_cancel(const struct session *session);

#endif

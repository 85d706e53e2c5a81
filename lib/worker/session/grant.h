/*
 * grant.h - grants: what a session may use (SMs, class, priority, weight, memory); see grant.c.
 * Main lane.
 */
#ifndef GS_WORKER_SESSION_GRANT_H
#define GS_WORKER_SESSION_GRANT_H

#include "worker/partition/partition.h"

/* Whether the grant names SMs, which it does when it is for less than the whole device. Any
 * thread. */
bool grant_has_mask(const struct link_grant *grant);
/* Applies the job's grant from its session's next launch on; takes over the job's partition, which
 * must be ready. */
void grant_apply(struct job *job);
/* Gives up what the grant of a session that is gone holds. */
void grant_deinit(struct session *session);

/* Takes over a new job_grant or job_open_partition, whose session is set. */
void grant_take(struct job *job);
/* Goes on with the jobs whose partition has been made or has failed, and with those whose client
 * gives up. Cheap to call often. */
void grants_poll(uint64_t now);
/* Whether any grant waits. */
bool grants_any(void);
/* Answers the waiting grant of a session that is being closed. */
void grant_cancel(const struct session *session);

#endif

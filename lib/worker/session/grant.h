/* grant.h - what a session may use; see grant.c. Dispatcher. */
#ifndef GS_WORKER_SESSION_GRANT_H
#define GS_WORKER_SESSION_GRANT_H

#include "worker/partition/partition.h"

/* Is it of less than the whole device? Any thread. */
bool grant_has_mask(const struct link_grant *grant);
/* The session has it from its next launch on; takes over the caller's hold on the partition, which
 * must be ready. */
void grant_apply(struct session *session, const struct link_grant *grant,
                 struct partition *partition);
/* The session is gone. */
void grant_deinit(struct session *session);

/* A new job_grant or job_open_partition, whose session is set. It is given away. */
void grant_take(struct job *job);
/* Goes on with the jobs whose partition has been made, or not, and with those that gave up. Cheap
 * to call often. */
void grants_poll(uint64_t now);
/* Does any wait? */
bool grants_any(void);
/* Answers a grant that still waits: its session is being closed. */
void grant_cancel(const struct session *session);

#endif

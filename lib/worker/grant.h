/* grant.h - what a session may use; see grant.c. Dispatcher. */
#ifndef GS_WORKER_GRANT_H
#define GS_WORKER_GRANT_H

#include "worker/partition.h"

/* Is it of less than the whole device? Any thread. */
bool grant_has_mask(const struct link_grant *grant);
/* The session has it from its next launch on; takes over the caller's hold on the partition, which
 * must be ready. */
void grant_apply(struct session *session, const struct link_grant *grant,
                 struct partition *partition);
/* What of it must launches of the class keep off now? */
uint32_t grant_kept_off(uint32_t cls);
/* The SMs that this means. */
struct sm_mask grant_reserved(uint32_t kept);
/* Where the session's launches of a class run now: in its grant; while it must keep off, in the
 * grant less what is reserved. The whole grant where nothing is left; while that is being made,
 * less some of it or nothing. */
struct partition *grant_place(struct session *session, uint32_t cls);
/* Has it made where best-effort sessions run beside latency sessions, if there are both: that takes
 * a moment without running kernels, which there may not be once these work. When a session has
 * another grant, or the device another policy. */
void grants_prepare(void);
/* The session is gone. */
void grant_drop(struct session *session);

/* A new job_grant or job_open_place, whose session is set. It is given away. */
void grant_take(struct job *job);
/* Goes on with the jobs whose partition has been made, or not, and with those that gave up. Cheap
 * to call often. */
void grants_poll(void);
/* Answers a grant that still waits: its session is being closed. */
void grant_cancel(const struct session *session);

#endif

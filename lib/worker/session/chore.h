/* chore.h - work on a session that its tenant did not ask for (JOB_CHORE); see chore.c. Dispatcher.
 */
#ifndef GS_WORKER_SESSION_CHORE_H
#define GS_WORKER_SESSION_CHORE_H

#include "worker/jobs/job.h"

/* The job, whose session is set, waits for its turn. With JOB_IDLE one of its kind does for all
 * that wait. */
void chore_add(struct job *job);
/* Does any wait? */
bool chores_any(void);
/* The next whose turn it is, which its session is to do now; NULL: none. Until it says none. */
struct job *chore_due(uint64_t now);
/* The session is being closed: what waits for it is dropped. */
void chores_cancel(const struct session *session);

#endif

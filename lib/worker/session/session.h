/* session.h - opening and closing a session; see session.c. */
#ifndef GS_WORKER_SESSION_SESSION_H
#define GS_WORKER_SESSION_SESSION_H

#include "worker/jobs/job.h"

/* Makes a session for its open job; `stats` are its slot's. NULL: no memory. Any thread. */
struct session *session_new(uint32_t slot, const struct link_open *open, struct link_stats *stats);
/* Frees a session that has released all else, or never had it. NULL is fine. */
void session_free(struct session *session);
/* Maps the segment of an open job's session. On failure the job has failed. Service thread. */
gs_status session_map(struct job *job);
/* Releases all that a session has which could not be opened. Service thread. */
void session_deinit(struct session *session);
/* Tells the supervisor how an open job ended. Main lane, once the session is in the session
 * table. */
void session_opened(const struct job *job);
/* Tells the supervisor that a session which was opened late has its modules. Main lane. */
void session_taken_up(const struct session *session);

#endif

/* session.h - opens and closes sessions; see session.c. */
#ifndef GS_WORKER_SESSION_SESSION_H
#define GS_WORKER_SESSION_SESSION_H

#include "worker/jobs/job.h"

/* Makes a session for its open job. stats: those of the slot. NULL: no memory. Called by any
 * thread. */
struct session *session_new(uint32_t slot, const struct link_open *open, struct link_stats *stats);
/* Frees a session that has nothing else left, or never had. NULL is allowed. */
void session_free(struct session *session);
/* Maps the segment of an open job's session. Fails the job on failure. Called by a service
 * thread. */
gs_status session_map(struct job *job);
/* Releases everything of a session that could not be opened. Called by a service thread. */
void session_deinit(struct session *session);
/* Tells the supervisor how an open job ended. Called by the main lane, after the session has
 * entered the session table, if it was opened. */
void session_opened(const struct job *job);
/* Tells the supervisor that a session that was resumed late is complete now. Called by the main
 * lane. */
void session_taken_up(const struct session *session);

#endif

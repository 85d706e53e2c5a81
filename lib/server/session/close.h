/*
 * close.h - ends sessions: closed because the client is gone, refused before they were open, or
 * lost with their worker. These functions release what a session had; a later round plans which
 * other sessions get it.
 */
#ifndef GS_SERVER_CLOSE_H
#define GS_SERVER_CLOSE_H

#include "server/session/segment.h"
#include "server/state/device.h"
#include "server/state/session.h"

/* Closes a session whose client has gone or detached, or never confirmed. The worker frees what the
 * session holds. */
void server_session_close(struct session *session);
/* Ends the session for an operator: queued work is dropped, and work that still runs after
 * `grace_ms` ends with the worker. */
void server_session_kill(struct session *session, uint32_t grace_ms);
/* Handles LINK_CLOSED: the worker has freed the session. Returns false if the message is invalid in
 * this state. */
bool server_session_closed(struct session *session);
/* Continues with the end of a session that a former supervisor has begun. `asked`: the worker has
 * got the LINK_CLOSE. */
void server_session_close_again(struct session *session, bool asked);
/* Handles the loss of the session's worker. `fatal`: the worker's LINK_FATAL, or NULL. */
void server_session_worker_lost(struct session *session, const struct link_fatal *fatal);
/* Notes that the session no longer waits to be taken up. */
void server_session_resume_over(struct session *session);
/* Answers the attach with a refusal and ends the session. */
void server_session_refuse(struct session *session, gs_status status, const char *text);
/* Frees all that the session has, and its slot, at once. */
void server_session_end(struct session *session);
/* Stops watching the client's process. */
void server_session_unwatch(struct session *session);

#endif

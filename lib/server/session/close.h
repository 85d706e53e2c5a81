/*
 * close.h - how sessions end: closed because the client is gone, refused before they were open, or
 * lost with their worker. What was a session's is given up here; what others get of it is planned
 * in a later round.
 */
#ifndef GS_SERVER_CLOSE_H
#define GS_SERVER_CLOSE_H

#include "server/session/segment.h"
#include "server/state/device.h"
#include "server/state/session.h"

/* Closes a session whose client has gone or detached, or never came: the worker frees what the
 * session holds. */
void server_session_close(struct session *session);
/* The operator ends the session: what it has queued is dropped, and what still runs after
 * `grace_ms` ends with the worker. */
void server_session_kill(struct session *session, uint32_t grace_ms);
/* Takes LINK_CLOSED: the worker has freed the session. false: the message makes no sense in this
 * state. */
bool server_session_closed(struct session *session);
/* Goes on with the end of a session that a former supervisor has begun. asked: the worker knows. */
void server_session_close_again(struct session *session, bool asked);
/* Notes that the session's worker is gone. fatal: its last words, or NULL. */
void server_session_worker_lost(struct session *session, const struct link_fatal *fatal);
/* Notes that the session does not wait to be taken up any more. */
void server_session_resume_over(struct session *session);
/* Answers the attach with a refusal and ends the session. */
void server_session_refuse(struct session *session, gs_status status, const char *text);
/* Frees all that the session has, at once. */
void server_session_end(struct session *session);
/* Ends watching the client's process. */
void server_session_unwatch(struct session *session);

#endif

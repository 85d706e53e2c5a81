/*
 * segment.h - the supervisor's side of a session's segment: made, filled in for the client, and
 * told how the session ends. Nothing in it is read but the state word, and that only to swap it.
 */
#ifndef GS_SERVER_SEGMENT_H
#define GS_SERVER_SEGMENT_H

#include "server/state/session.h"

/* Makes and attaches the segment, which `uid` is to own. 0 or -errno. */
int session_segment_init(struct session *session, uid_t uid);
/* Describes the session that the worker has opened, and publishes that it is open. */
void session_segment_fill(struct session *session, const struct link_opened *opened);
/* The worker is gone. fatal: its last words, or NULL; blamed: they are about this session. */
void session_segment_fault(struct session *session, const struct link_fatal *fatal, bool blamed,
                           const char *why);
/* Tells the client that the session has ended, and detaches the segment. */
void session_segment_deinit(struct session *session);

#endif

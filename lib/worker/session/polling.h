/*
 * polling.h - polled and sleeping sessions, and the doorbell; see polling.c. Called by the main
 * lane, except where a comment says otherwise.
 */
#ifndef GS_WORKER_SESSION_POLLING_H
#define GS_WORKER_SESSION_POLLING_H

#include "worker/session_parts.h"

/* Begins to poll the session, because it may have something to do. */
void session_poll_begin(struct session *session);
/* Stops polling the session, which is then asleep, unless it has just become active. */
void session_poll_end(struct session *session);
/* Stops polling the session, even if it is active. Its client is not told to ring the doorbell. */
void session_poll_stop(struct session *session);

/* Add the session to the sessions that a lane polls, and remove it. Nothing else is needed on a
 * side lane. Called by that lane. */
void polled_add(struct lane *lane, struct session *session);
void polled_remove(struct lane *lane, struct session *session);

/* Checks a few sleeping sessions for activity, which is cheaper than a system call to read the
 * doorbell. */
void asleep_look(void);
/* Opens the doorbell queue. Returns false on failure, which is logged. */
bool bell_open(const char *name);
/* Empties the doorbell, and polls the sessions that rang. */
void bell_take(void);
/* Returns the doorbell's descriptor, for poll(). */
int bell_descriptor(void);

#endif

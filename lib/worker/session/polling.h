/*
 * polling.h - which sessions a lane polls, and the doorbell; see polling.c. Main lane, except where
 * a comment says otherwise.
 */
#ifndef GS_WORKER_SESSION_POLLING_H
#define GS_WORKER_SESSION_POLLING_H

#include "worker/session_parts.h"

/* Polls the session from now on, because it may have something to do. */
void session_poll_begin(struct session *session);
/* Ends polling the session, which is then asleep, unless it turns out to have just become
 * active. */
void session_poll_end(struct session *session);
/* Ends polling the session, whatever it has. */
void session_poll_stop(struct session *session);

/* Adds the session to those that a lane polls, or removes it, and does nothing else; a side lane
 * needs no more. Called by that lane. */
void polled_add(struct lane *lane, struct session *session);
void polled_remove(struct lane *lane, struct session *session);

/* Looks at a few sessions that are asleep, which is cheaper than a system call for the doorbell. */
void asleep_look(void);
/* Opens the queue whose messages are the doorbell's rings. False: that failed, which is logged. */
bool bell_open(const char *name);
/* Empties the doorbell, and polls the sessions that rang. */
void bell_take(void);
/* The doorbell's descriptor, for poll(). */
int bell_descriptor(void);

#endif

/* polling.h - which sessions a lane polls, and the doorbell; see polling.c. The lane itself; all
 * but session_poll_begin, session_poll_end and session_poll_stop: the main lane. */
#ifndef GS_WORKER_SESSION_POLLING_H
#define GS_WORKER_SESSION_POLLING_H

#include "worker/session_parts.h"

/* Polls it from now on: it may have something to do. */
void session_poll_begin(struct session *session);
/* Polls it no longer, unless it turns out to have just become active. */
void session_poll_end(struct session *session);
/* Polls it no longer, whatever it has. */
void session_poll_stop(struct session *session);

/* Looks at a few that are not polled: cheaper than a system call for the doorbell. */
void asleep_look(void);
bool bell_open(void);
/* Empties the doorbell, and polls those that rang. */
void bell_take(void);
/* For poll(). */
int bell_descriptor(void);

#endif

/* polling.h - which sessions a lane polls, and the doorbell; see polling.c. The lane itself; all
 * but session_heat, session_cool and session_unpoll: the main lane. */
#ifndef GS_WORKER_POLLING_H
#define GS_WORKER_POLLING_H

#include "worker/worker.h"

/* Polls it from now on: it may have something to do. */
void session_heat(struct session *session);
/* Polls it no longer, unless it turns out to have just become active. */
void session_cool(struct session *session);
/* Polls it no longer, whatever it has. */
void session_unpoll(struct session *session);

/* Looks at a few that are not polled: cheaper than a system call for the doorbell. */
void cold_look(void);
bool bell_open(void);
/* Empties the doorbell, and polls those that rang. */
void bell_take(void);
/* For poll(). */
int bell_descriptor(void);

#endif

/* session_table.h - the table of all sessions; see session_table.c. Called by the main lane. */
#ifndef GS_WORKER_SCHED_SESSION_TABLE_H
#define GS_WORKER_SCHED_SESSION_TABLE_H

#include "worker/session_parts.h"

/* Adds an open session to its slot. */
void session_table_add(struct session *session);
/* Moves a session that is being closed from its slot to the closing sessions. The device may still
 * have work of it. */
void session_table_closing(struct session *session);
/* Removes a closed session from the closing sessions. */
void session_table_remove(struct session *session);

/* Returns the session in a slot; NULL: the slot is empty, or its session is being closed. */
struct session *session_table_at(uint32_t slot);
/* Returns a number from which on all slots are empty. */
uint32_t session_table_slots(void);
/* Iterates over all sessions, those in slots and then those being closed: returns the one after
 * `session` (NULL: the first); NULL: there is none. */
struct session *session_table_next(const struct session *session);

#endif

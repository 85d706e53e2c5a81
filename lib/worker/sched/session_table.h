/* session_table.h - the table of all sessions; see session_table.c. Main lane. */
#ifndef GS_WORKER_SCHED_SESSION_TABLE_H
#define GS_WORKER_SCHED_SESSION_TABLE_H

#include "worker/session_parts.h"

/* Adds a session that is open. */
void session_table_add(struct session *session);
/* Moves a session that is being closed out of its slot; the device may still have work of it. */
void session_table_closing(struct session *session);
/* Removes a session that is closed. */
void session_table_remove(struct session *session);

/* The session in a slot; NULL: the slot is empty, or its session is being closed. */
struct session *session_table_at(uint32_t slot);
/* All slots from this one on are empty. */
uint32_t session_table_slots(void);
/* Walks through all sessions, in slots or being closed: the session after `session` (NULL: the
 * first); NULL: there is none. */
struct session *session_table_next(const struct session *session);

#endif

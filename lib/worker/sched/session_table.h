/*
 * session_table.h - which sessions there are; see session_table.c. Main lane.
 */
#ifndef GS_WORKER_SCHED_SESSION_TABLE_H
#define GS_WORKER_SCHED_SESSION_TABLE_H

#include "worker/session_parts.h"

/* The session is open. */
void session_table_add(struct session *session);
/* The session is being closed, but the device may have work of it. */
void session_table_closing(struct session *session);
/* The session is closed. */
void session_table_remove(struct session *session);

/* The session in a slot; NULL: none, or one that is being closed. */
struct session *session_table_at(uint32_t slot);
/* Slots at and beyond this are empty. */
uint32_t session_table_slots(void);
/* Of those in slots and those that are being closed, the one after `session` (NULL: the first);
 * NULL: that was the last. */
struct session *session_table_next(const struct session *session);

#endif

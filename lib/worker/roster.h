/* roster.h - which sessions there are, which are polled, the doorbell; see roster.c. Dispatcher. */
#ifndef GS_WORKER_ROSTER_H
#define GS_WORKER_ROSTER_H

#include "worker/worker.h"

struct roster {
    struct session *slots[LINK_SLOTS_MAX];
    uint32_t slots_used;                 /* slots at and beyond this are NULL */
    struct session *hot[LINK_SLOTS_MAX]; /* those that are polled */
    uint32_t hot_count;
    struct session *leaving; /* being closed; the others by ->next_leaving */
};
extern struct roster roster;

/* It is open. */
void roster_enter(struct session *session);
/* It is being closed: not polled any more, but the device may have work of it. */
void roster_leave(struct session *session);
/* It is closed. */
void roster_forget(struct session *session);

/* Of those in slots and those that leave, the one after `session`. NULL: the first; none. */
struct session *session_after(const struct session *session);

/* Polls it from now on: it may have something to do. */
void session_heat(struct session *session);
/* Polls it no longer, unless it turns out to have just become active. */
void session_cool(struct session *session);

/* Looks at a few that are not polled: cheaper than a system call for the doorbell. */
void cold_look(void);
bool bell_open(void);
/* Empties the doorbell, and polls those that rang. */
void bell_take(void);
/* For poll(). */
int bell_descriptor(void);

/* Has the device finished all that the sessions have issued? The words are asked first, which
 * cost nothing, then the driver: a tenant could have falsified its words. */
bool sessions_idle(void);

#endif

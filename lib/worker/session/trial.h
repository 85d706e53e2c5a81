/*
 * trial.h - trials: after a loss for which nobody is blamed, the sessions that run unfinished work
 * again do so one after the other.
 *
 * A kernel of one of them may have caused the loss. If it does so again, its session is the only
 * one with unfinished work, and is blamed. Each trial begins when the device has no work, and ends
 * when the session's unfinished work is complete and the device has no work again. All trials end
 * after five seconds, since such work may be waiting for other tenants. The suspects take turns
 * afterwards (turn.h). Called by the main lane.
 */
#ifndef GS_WORKER_SESSION_TRIAL_H
#define GS_WORKER_SESSION_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

struct session;

/* Queues the session for a trial. */
void trial_add(struct session *session);
/* Ends the session's trial, or removes it from the queue. */
void trial_remove(struct session *session);
/* Tells the supervisor that the session is no longer suspect. */
void trial_passed(const struct session *session);
/* Returns whether any session has a trial or awaits one. */
bool trial_any(void);
/* Returns whether the session's new work waits for a trial or a turn of another session. */
bool trial_pauses(const struct session *session);
/* Ends and begins trials and turns. Called in each round. */
void trial_poll(uint64_t now);

#endif

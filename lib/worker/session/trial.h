/*
 * trial.h - trials: after a loss for which nobody is blamed, the sessions whose unfinished work
 * runs again run it one after the other.
 *
 * A kernel of one of them may have lost the device. If it does so again, its session is the only
 * one with unfinished work, and is blamed. Each trial begins when the device has nothing to do, and
 * ends when the session's unfinished work is complete and the device has nothing to do again; all
 * of them end after five seconds, since such work may wait for other tenants. All suspects take
 * turns afterwards (turn.h). Main lane.
 */
#ifndef GS_WORKER_SESSION_TRIAL_H
#define GS_WORKER_SESSION_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

struct session;

/* Notes that the session is to have a trial. */
void trial_add(struct session *session);
/* Ends the session's trial, if it has one. */
void trial_remove(struct session *session);
/* Tells the supervisor that the session is no longer suspect. */
void trial_passed(const struct session *session);
/* Whether any session is still to have its trial, or has it. */
bool trial_any(void);
/* Whether the session's new work waits for a trial or a turn of another session. */
bool trial_pauses(const struct session *session);
/* Ends and begins trials and turns. Called in each round. */
void trial_poll(uint64_t now);

#endif

/*
 * turn.h - turns: no two suspects have kernels on the device at a time. A suspect is a session of a
 * user who had unfinished kernels when a device was lost and nobody could be blamed. If its kernel
 * causes another loss, no other suspect has kernels then, so that in the end it is the only
 * suspect. Sessions that are no suspects run beside the suspects, and so do copies.
 *
 * While no other suspect waits, a turn goes on. Otherwise it lasts for at least 2 ms, until its
 * session has held the others up for as long as the next one has, so that suspects have equal parts
 * of the time, and until its kernels are complete. But it lasts no longer than a 30th of the time
 * of suspicion, or one second if that is more: kernels that run on after that share the device with
 * the next suspect's. Called by the main lane.
 */
#ifndef GS_WORKER_SESSION_TURN_H
#define GS_WORKER_SESSION_TURN_H

#include <stdbool.h>
#include <stdint.h>

struct session;

/* Makes the session a suspect until clock_ns() reaches `until`; 0: it is none. */
void turn_add(struct session *session, uint64_t now, uint64_t until);
/* Ends the turn of a session that is being closed, if it has one. */
void turn_remove(const struct session *session);
/* Returns whether the session's new work must wait for its turn. */
bool turn_pauses(const struct session *session);
/* Ends and begins turns. Called in each round. */
void turn_poll(uint64_t now);

#endif

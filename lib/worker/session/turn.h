/*
 * turn.h - turns: no two suspects have kernels on the device at a time. A suspect is a session of a
 * user who had unfinished kernels when a device was lost and nobody could be blamed. If a kernel of
 * it loses the device again, no other suspect has any then, so in the end the session is the only
 * one. Sessions that are no suspects go on beside them, and so do copies.
 *
 * While no other suspect waits, a turn goes on. Else it lasts for 2 ms at least, until its session
 * has held the others up for as long as the next one has, so that suspects have equal parts of the
 * time, and until its kernels are complete. But it lasts no longer than a 30th of the time of the
 * suspicion, or a second if that is more: kernels that run on then share the device with the next
 * suspect's. Main lane.
 */
#ifndef GS_WORKER_SESSION_TURN_H
#define GS_WORKER_SESSION_TURN_H

#include <stdbool.h>
#include <stdint.h>

struct session;

/* The session is a suspect until clock_ns() is `until`; 0: it is none. */
void turn_add(struct session *session, uint64_t now, uint64_t until);
/* The session goes, and gives its turn up. */
void turn_remove(const struct session *session);
/* Whether the session's new work waits for its turn. */
bool turn_pauses(const struct session *session);
/* Ends and begins turns. Called in each round. */
void turn_poll(uint64_t now);

#endif

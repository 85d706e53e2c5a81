/*
 * turn.h - turns: no two suspects have kernels on the device at a time.
 *
 * A suspect is a session of a user who had unfinished kernels when a device was lost and nobody
 * could be blamed. If a kernel of it loses the device again, no other suspect has any then, so in
 * the end the session is the only one. Sessions that are no suspects go on beside them, and so do
 * copies. A turn lasts as long as nobody else waits for one, else 2 ms, and until its kernels are
 * complete, but no longer than a 30th of the time of the suspicion, a second at least: kernels that
 * run on share the device with the next suspect's. Suspects have equal parts of the time: who has
 * held the others up for longer than they have held anybody up waits until they have, too. Main
 * lane.
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

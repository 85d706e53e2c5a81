/*
 * rings.h - takes what a session's tenant has announced in its activity word, and drains the
 * session's rings into the device, in one scheduling round; see rings.c. Called by the session's
 * lane.
 */
#ifndef GS_WORKER_LOOP_RINGS_H
#define GS_WORKER_LOOP_RINGS_H

#include "worker/session_parts.h"

/* Takes the activity bits that the session's tenant has set, and prefetches the records. */
void rings_look(struct session *session);
/* Returns whether any of the session's streams may issue something to the device. */
bool rings_allowed(const struct session *session);

/* The result of rings_drain, as bits. */
enum rings_drained {
    RINGS_TAKEN = 1,     /* records were taken */
    RINGS_NO_ROOM = 2,   /* records wait for room on the device */
    RINGS_STALLED = 4,   /* the next record of a ring waits for something other than room */
    RINGS_ELSEWHERE = 8, /* only the main lane may issue the next record of a ring */
    RINGS_SPENT = 16     /* the session or its user has used up its part of this round */
};
/* Issues the session's records to the device, as far as the scheduler and the session's budget
 * allow. Returns RINGS_* bits. */
unsigned rings_drain(struct session *session);
/* Notes when the records of streams that were not drained in this round were first seen: their
 * waiting time counts from now on (latency.h). */
void rings_seen(struct session *session);

#endif

/*
 * rings.h - the rings of a session in a scheduling round: what its tenant has announced, what its
 * streams may give to the device, and the giving; see rings.c. The session's lane.
 */
#ifndef GS_WORKER_LOOP_RINGS_H
#define GS_WORKER_LOOP_RINGS_H

#include "worker/session_parts.h"

/* Takes what the session's tenant has announced, and fetches ahead what is read next. */
void rings_look(struct session *session);
/* Whether any of the session's streams may give something to the device. */
bool rings_allowed(const struct session *session);

/* What rings_drain has found, as bits. */
enum rings_drained {
    RINGS_TAKEN = 1,     /* records were taken */
    RINGS_NO_ROOM = 2,   /* records wait for space on the device */
    RINGS_STALLED = 4,   /* the next record of a ring waits for something else */
    RINGS_ELSEWHERE = 8, /* the next record of a ring is for the main lane */
    RINGS_SPENT = 16     /* the session, or its user, has had its part of this round */
};
/* Gives to the device what the session's streams have for it and may give. */
unsigned rings_drain(struct session *session);
/* Notes the records that have come in streams which were not drained in this round: from now on
 * they wait. */
void rings_seen(struct session *session);

#endif

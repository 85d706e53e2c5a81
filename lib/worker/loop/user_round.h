/*
 * user_round.h - how long the sessions of a user keep a lane in one of its rounds; see
 * user_round.c. The session's lane.
 */
#ifndef GS_WORKER_LOOP_USER_ROUND_H
#define GS_WORKER_LOOP_USER_ROUND_H

#include "worker/session_parts.h"

/* Whether user_round_admits would refuse the session, as far as that is known: one of the user's
 * sessions has been asked for in this round. */
bool user_round_turns_away(const struct session *session);
/* Whether the session's records may go to the device in this round of its lane. Where there are
 * several users: called before session->round.budget_round becomes this round. */
bool user_round_admits(struct session *session);
/* Counts the time since *from, which becomes the present. Returns false once the user has had its
 * part of the round. */
bool user_round_goes_on(struct session *session, uint64_t *from);

/* Whether the session's request may be taken in this round, where there are several users. */
bool user_round_admits_request(struct session *session);
/* Counts the time since `from`, which that request has taken. */
void user_round_requested(const struct session *session, uint64_t from);

#endif

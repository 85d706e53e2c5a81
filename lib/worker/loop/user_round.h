/*
 * user_round.h - bounds the time that one user's sessions take of a lane's round; see user_round.c.
 * Called by the session's lane.
 */
#ifndef GS_WORKER_LOOP_USER_ROUND_H
#define GS_WORKER_LOOP_USER_ROUND_H

#include "worker/session_parts.h"

/* Returns whether user_round_admits would refuse the session. False if that is not known yet,
 * because user_round_admits was not called for any of the user's sessions in this round. */
bool user_round_turns_away(const struct session *session);
/* Returns whether the session's records may be issued in this round of its lane. Called only where
 * there are several users, and before session->round.budget_round becomes this round. */
bool user_round_admits(struct session *session);
/* Charges the user with the time since *from, and sets *from to the present. Returns false once the
 * user has used up its part of the round. */
bool user_round_goes_on(struct session *session, uint64_t *from);

/* Returns whether the session's request may be taken in this round. Called only where there are
 * several users. */
bool user_round_admits_request(struct session *session);
/* Charges the user's requests with the time since `from`. */
void user_round_requested(const struct session *session, uint64_t from);

#endif

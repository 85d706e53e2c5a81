/*
 * user_round.c - bounds the time that one user's sessions take of a lane's round, where there are
 * several users. A session issues 128 records per round at most, but a user may have hundreds of
 * sessions, and a record may take the driver 20 us: the others' launches would wait for all of
 * them.
 *
 * So a user's sessions are served until USER_NS have passed in the round, and the remaining ones in
 * the next rounds. A pass is over once each session of the user has been served once. Other users
 * are served in every round.
 *
 * Requests, each of which takes the lane some microseconds, have a USER_NS of their own, so that
 * they do not wait for all records of their user.
 */
#include "worker/loop/user_round.h"

#include "common/util.h"
#include "worker/memory/user.h"
#include "worker/sched/lane.h"

#define USER_NS 200000u

static struct user_round *round_of(const struct session *session)
{
    return &session->memory.user->round[session->lane->index];
}

/* Returns whether the session must wait for a later round. The user's round has begun. */
static bool turned_away(const struct session *session, struct user_round *user)
{
    if (session->round.pass == user->pass && session->round.budget_round != session->lane->round)
        return true; /* the session was served in an earlier round of the pass */
    if (user->ns < USER_NS)
        return false;
    user->more = true;
    return true;
}

bool user_round_turns_away(const struct session *session)
{
    struct user_round *user = round_of(session);

    return user->round == session->lane->round && turned_away(session, user);
}

/* Begins the user's part of a round, and a new pass if the last one is over. */
static void round_begin(struct user_round *user, uint64_t round)
{
    if (user->round == round)
        return;
    user->round = round;
    user->ns = 0;
    user->pass += !user->more;
    user->more = false;
}

bool user_round_admits(struct session *session)
{
    struct user_round *user = round_of(session);

    round_begin(user, session->lane->round);
    if (turned_away(session, user))
        return false;
    session->round.pass = user->pass;
    return true;
}

bool user_round_goes_on(struct session *session, uint64_t *from)
{
    struct user_round *user = round_of(session);
    const uint64_t now = clock_ns();

    user->ns += now - *from;
    *from = now;
    return user->ns < USER_NS;
}

bool user_round_admits_request(struct session *session)
{
    struct user_round *user = &session->memory.user->requests;

    round_begin(user, session->lane->round);
    if (session->round.request_pass == user->pass)
        return false; /* a request of the session was taken in an earlier round of the pass */
    if (user->ns >= USER_NS) {
        user->more = true;
        return false;
    }
    session->round.request_pass = user->pass;
    return true;
}

void user_round_requested(const struct session *session, uint64_t from)
{
    session->memory.user->requests.ns += clock_ns() - from;
}

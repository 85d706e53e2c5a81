/* turn.c - see turn.h. */
#include "worker/session/turn.h"

#include "worker/sched/lane.h"
#include "worker/sched/session_table.h"
#include "worker/submit/stream.h"

#define TURN_NS         2000000u    /* the shortest turn if others wait */
#define TURN_LONGEST_NS 1000000000u /* the longest turn, including the end of its work ... */
/* ... or this fraction of the time of suspicion, if that is longer */
#define TURN_SHARE      30u

static struct {
    uint64_t until;          /* when the last suspicion ends; 0: there are no suspects */
    uint64_t longest_ns;     /* the longest turn */
    struct session *current; /* the only suspect that may issue kernels; NULL: none may */
    uint64_t since;          /* when the current turn began */
    /* since when other suspects wait for the end of the turn; 0: none waits */
    uint64_t awaited;
    bool ending;            /* the turn is over, and lasts only until its work has ended */
    uint64_t least_held_ns; /* the least held_ns with which a session begins its turn */
} turn = {.longest_ns = TURN_LONGEST_NS};

void turn_add(struct session *session, uint64_t now, uint64_t until)
{
    session->poll.suspect_ns = until;
    session->poll.held_ns = 0;
    if (until > turn.until)
        turn.until = until;
    if (until > now && (until - now) / TURN_SHARE > turn.longest_ns)
        turn.longest_ns = (until - now) / TURN_SHARE;
}

void turn_remove(const struct session *session)
{
    if (turn.current == session)
        turn.current = NULL;
}

static bool suspect(const struct session *session, uint64_t now)
{
    return session->poll.suspect_ns > now;
}

bool turn_pauses(const struct session *session)
{
    return turn.until && suspect(session, session->lane->now) &&
           (session != turn.current || turn.ending);
}

/* Returns whether the session has records and is not paused. */
static bool waits(const struct session *session)
{
    return session->round.pending & ~REQUEST_BIT && !session->jobs.paused;
}

/* Returns the suspect that gets the next turn; NULL: no other one waits. It is the one that has
 * held the others up for the shortest time; among several such, the next one in the table's
 * order. */
static struct session *next_waiting(uint64_t now)
{
    struct session *next = NULL, *current = turn.current;
    bool behind = !current, next_behind = false;

    for (struct session *s = session_table_next(NULL); s; s = session_table_next(s)) {
        if (s == current) {
            behind = true;
        } else if (s->phase == SESSION_LIVE && suspect(s, now) && waits(s) &&
                   (!next || s->poll.held_ns < next->poll.held_ns ||
                    (s->poll.held_ns == next->poll.held_ns && behind && !next_behind))) {
            next = s;
            next_behind = behind;
        }
    }
    return next;
}

/* Adds the time for which the current turn has held others up to its session's held_ns. wait_on:
 * others still wait for the end of the turn. */
static void held_note(uint64_t now, bool wait_on)
{
    if (turn.current && turn.awaited)
        turn.current->poll.held_ns += now - turn.awaited;
    turn.awaited = wait_on ? now : 0;
}

/* Returns whether any suspect, even one that is being closed, has unfinished kernels. Asks the
 * driver about kernels without a fence, which clears by_word once they have ended. */
static bool suspects_busy(uint64_t now)
{
    for (struct session *s = session_table_next(NULL); s; s = session_table_next(s)) {
        if (!suspect(s, now))
            continue;
        if (s->inflight.by_word)
            streams_idle(s);
        if (session_has_kernels(s))
            return true;
    }
    return false;
}

void turn_poll(uint64_t now)
{
    struct session *next;

    if (!turn.until)
        return;
    if (now >= turn.until) {
        turn.until = 0;
        turn.longest_ns = TURN_LONGEST_NS;
        turn.least_held_ns = 0;
        turn.current = NULL;
        return;
    }
    next = next_waiting(now);
    held_note(now, next);
    turn.ending =
        next && turn.current &&
        (turn.ending || !waits(turn.current) ||
         (now - turn.since >= TURN_NS && next->poll.held_ns <= turn.current->poll.held_ns));
    if (!next || (turn.current && !turn.ending) ||
        (suspects_busy(now) && now - turn.since < turn.longest_ns))
        return;
    /* A suspect that had no work meanwhile has no claim to the time that the others have had. */
    if (next->poll.held_ns < turn.least_held_ns)
        next->poll.held_ns = turn.least_held_ns;
    turn.least_held_ns = next->poll.held_ns;
    turn.current = next;
    turn.since = turn.awaited = now;
    turn.ending = false;
}

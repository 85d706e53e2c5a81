/* trial.c - see trial.h. */
#include "worker/session/trial.h"

#include "common/log.h"
#include "worker/driver/supervisor_link.h"
#include "worker/sched/session_table.h"
#include "worker/session/quiet.h"
#include "worker/session/turn.h"
#include "worker/submit/stream.h"

#define TRIALS_NS 5000000000u /* the longest time that other sessions wait after a loss */

static struct {
    uint32_t left; /* the number of sessions that have a trial or await one */
    struct session *current;
    bool ending; /* the current session has caught up; its trial ends once the device has no work */
    uint64_t until; /* 0: no trial has begun */
} trial;

void trial_add(struct session *session)
{
    session->poll.trial = true;
    trial.left++;
}

void trial_remove(struct session *session)
{
    if (!session->poll.trial)
        return;
    session->poll.trial = false;
    if (--trial.left == 0)
        trial.until = 0;
    if (trial.current == session)
        trial.current = NULL;
}

bool trial_any(void)
{
    return trial.left;
}

bool trial_pauses(const struct session *session)
{
    return (trial.left && (session != trial.current || trial.ending)) || turn_pauses(session);
}

/* On this message the supervisor forgets the losses in which the session was a suspect. */
void trial_passed(const struct session *session)
{
    const struct link_message message = {.op = LINK_TRIED, .slot = session->slot};

    link_send(&message, -1);
}

/* Begins the next trial. The device has no work of any session, so a loss from now on is the fault
 * of the session on trial. */
static void trial_begin(uint64_t now)
{
    struct session *session = session_table_next(NULL);

    while (session && !session->poll.trial)
        session = session_table_next(session);
    trial.current = session;
    trial.ending = false;
    if (!trial.until)
        trial.until = now + TRIALS_NS;
}

static void trials_give_up(void)
{
    log_debug("%u sessions' work that runs again takes long, and all go on beside it", trial.left);
    for (struct session *s = session_table_next(NULL); s; s = session_table_next(s))
        trial_remove(s);
}

void trial_poll(uint64_t now)
{
    struct session *session = trial.current;

    turn_poll(now);
    if (!trial.left || quiet_pauses(now))
        return;
    if (session && (session->submit.faulted || session_caught_up(session)))
        trial.ending = true;
    if (trial.until && now > trial.until) {
        trials_give_up();
    } else if ((!session || trial.ending) && sessions_idle()) {
        if (session && !session->submit.faulted)
            trial_passed(session);
        if (session)
            trial_remove(session);
        if (trial.left)
            trial_begin(now);
    }
}

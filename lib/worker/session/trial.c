/* trial.c - see trial.h. */
#include "worker/session/trial.h"

#include "common/log.h"
#include "worker/driver/supervisor_link.h"
#include "worker/sched/session_table.h"
#include "worker/session/quiet.h"
#include "worker/submit/stream.h"

#define TRIAL_NS 5000000000u /* others wait for so long at most */

static struct {
    uint32_t left; /* sessions that are to have a trial, with the one that has it */
    struct session *current;
    uint64_t until;
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
    trial.left--;
    if (trial.current == session)
        trial.current = NULL;
}

bool trial_any(void)
{
    return trial.left;
}

bool trial_holds(const struct session *session)
{
    return trial.left && session != trial.current;
}

static void trial_begin(uint64_t now)
{
    struct session *session = session_table_next(NULL);

    while (session && !session->poll.trial)
        session = session_table_next(session);
    trial.current = session;
    trial.until = now + TRIAL_NS;
}

/* The supervisor forgets the losses in which the session was a suspect. */
static void trial_passed(const struct session *session)
{
    const struct link_message message = {.op = LINK_TRIED, .slot = session->slot};

    link_send(&message, -1);
}

void trial_poll(uint64_t now)
{
    struct session *session = trial.current;

    if (!trial.left || quiet_hold(now))
        return;
    if (session && session_caught_up(session)) {
        trial_passed(session);
        trial_remove(session);
    } else if (session && now > trial.until) {
        log_debug("the work of session %llu that runs again takes long, and others run "
                  "beside it",
                  (unsigned long long)session->id);
        trial_remove(session);
    }
    if (trial.left && !trial.current)
        trial_begin(now);
}

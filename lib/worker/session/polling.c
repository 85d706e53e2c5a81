/*
 * polling.c - polled and sleeping sessions.
 *
 * A session is either polled (the lane reads its activity word in every round) or asleep (its
 * client rings the doorbell after it has set the word). doc/protocol.md, "Doorbell", lists all that
 * waits or sleeps.
 */
#include "worker/session/polling.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <string.h>

#include "common/log.h"
#include "worker/sched/domain.h"
#include "worker/sched/lane.h"
#include "worker/sched/session_table.h"

#define ASLEEP_A_ROUND 4u /* sleeping sessions checked in each round while the lane is awake */

static uint32_t asleep_cursor;
static mqd_t bell;

/* ---- Polled and asleep ----------------------------------------------------------------------- */

void polled_add(struct lane *lane, struct session *session)
{
    session->poll.active_ns = lane->now;
    session->poll.index = lane->polled_count;
    lane->polled[lane->polled_count++] = session;
}

void polled_remove(struct lane *lane, struct session *session)
{
    struct session *last = lane->polled[--lane->polled_count];

    lane->polled[session->poll.index] = last;
    last->poll.index = session->poll.index;
}

void session_poll_stop(struct session *session)
{
    if (!session->sched.polled)
        return;
    session->sched.polled = false;
    polled_remove(session->lane, session);
    domains_idle();
}

void session_poll_begin(struct session *session)
{
    struct lane *lane = session->lane;

    session->poll.active_ns = lane->now;
    if (session->sched.polled)
        return;
    session->sched.polled = true;
    polled_add(lane, session);
    domains_add(session);
    /* The session's client need not ring any more. A ring that is under way is read and ignored. */
    atomic_store_explicit(&session->server_page->need_bell, 0, memory_order_relaxed);
}

void session_poll_end(struct session *session)
{
    /* seq_cst on both: the client sets activity, then reads need_bell; this thread does the
     * reverse, so one of the two sees the other. */
    atomic_store(&session->server_page->need_bell, 1);
    if (atomic_load(&session->client->activity) != 0) {
        atomic_store_explicit(&session->server_page->need_bell, 0, memory_order_relaxed);
        session->poll.active_ns = session->lane->now;
        return;
    }
    session_poll_stop(session);
}

/* Begins to poll a session that rang or has activity. A client that is interrupted before it reads
 * need_bell rings late, when its record has long been taken and its session is asleep again. It has
 * then cleared need_bell, and would not ring for its next record. So a cleared need_bell starts
 * polling too. */
static void session_look(struct session *session)
{
    if (session && !session_elsewhere(session) && !session->sched.polled &&
        (atomic_load_explicit(&session->client->activity, memory_order_relaxed) ||
         !atomic_load_explicit(&session->server_page->need_bell, memory_order_relaxed)))
        session_poll_begin(session);
}

void asleep_look(void)
{
    for (uint32_t n = 0; n < ASLEEP_A_ROUND && n < session_table_slots(); n++) {
        if (asleep_cursor >= session_table_slots())
            asleep_cursor = 0;
        session_look(session_table_at(asleep_cursor++));
    }
}

/* ---- The doorbell ---------------------------------------------------------------------------- */

bool bell_open(const char *name)
{
    bell = mq_open(name, O_RDONLY | O_NONBLOCK);
    if (bell == (mqd_t)-1)
        log_error("event=doorbell-failed doorbell=%s reason=%s", name, strerror(errno));
    return bell != (mqd_t)-1;
}

int bell_descriptor(void)
{
    return (int)bell;
}

void bell_take(void)
{
    uint32_t slot, messages = 0;
    ssize_t size;

    while ((size = mq_receive(bell, (char *)&slot, sizeof(slot), NULL)) >= 0) {
        /* counts malformed messages too: each took a place in the queue from another ring */
        messages++;
        if (size == sizeof(slot) && slot < LINK_SLOTS_MAX)
            session_look(session_table_at(slot));
        if (messages == BELL_QUEUE_DEPTH)
            break;
    }
    /* A full queue may have refused rings, so every session is checked. */
    if (messages == BELL_QUEUE_DEPTH) {
        for (uint32_t i = 0; i < session_table_slots(); i++)
            session_look(session_table_at(i));
    }
}

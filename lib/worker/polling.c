/*
 * polling.c - which sessions a lane polls.
 *
 * A session is hot (its activity word is polled) or cold (its client rings the doorbell after
 * setting the word).
 */
#include "worker/polling.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <string.h>

#include "common/log.h"
#include "worker/lane.h"
#include "worker/lines.h"
#include "worker/session_table.h"

#define COLD_A_TURN 4u /* cold sessions looked at in each turn while awake */

static uint32_t cold_cursor;
static mqd_t bell;

/* ---- Hot and cold ---------------------------------------------------------------------------- */

void session_unpoll(struct session *session)
{
    struct lane *lane = session->lane;

    if (!session->hot)
        return;
    session->hot = false;
    struct session *last = lane->hot[--lane->hot_count];
    lane->hot[session->hot_index] = last;
    last->hot_index = session->hot_index;
    lines_cool();
}

void session_heat(struct session *session)
{
    struct lane *lane = session->lane;

    session->active_ns = lane->now;
    if (session->hot)
        return;
    session->hot = true;
    session->hot_index = lane->hot_count;
    lane->hot[lane->hot_count++] = session;
    lines_enter(session);
    /* Its client need not ring now. A ring that is under way is read and ignored. */
    atomic_store_explicit(&session->server->need_bell, 0, memory_order_relaxed);
}

void session_cool(struct session *session)
{
    /* seq_cst on both: the client sets activity, then reads need_bell; here the other way round, so
     * one of the two sees the other. */
    atomic_store(&session->server->need_bell, 1);
    if (atomic_load(&session->client->activity) != 0) {
        atomic_store_explicit(&session->server->need_bell, 0, memory_order_relaxed);
        session->active_ns = session->lane->now;
        return;
    }
    session_unpoll(session);
}

/* A client that was interrupted before it looked at need_bell rings late, when what it rings for
 * has long been taken and its session is cold again. It has exchanged the word then and would not
 * ring for its next record: that one sees to it, too. */
static void session_look(struct session *session)
{
    if (session && !session->hot &&
        (atomic_load_explicit(&session->client->activity, memory_order_relaxed) ||
         !atomic_load_explicit(&session->server->need_bell, memory_order_relaxed)))
        session_heat(session);
}

void cold_look(void)
{
    for (uint32_t n = 0; n < COLD_A_TURN && n < session_slots(); n++) {
        if (cold_cursor >= session_slots())
            cold_cursor = 0;
        session_look(session_at(cold_cursor++));
    }
}

/* ---- The doorbell ---------------------------------------------------------------------------- */

bool bell_open(void)
{
    bell = mq_open(worker.bell_name, O_RDONLY | O_NONBLOCK);
    if (bell == (mqd_t)-1)
        log_error("doorbell %s: %s", worker.bell_name, strerror(errno));
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
        messages++; /* a short one too: it took a place that another ring wanted */
        if (size == sizeof(slot) && slot < LINK_SLOTS_MAX)
            session_look(session_at(slot));
        if (messages == BELL_QUEUE_DEPTH)
            break;
    }
    /* A full queue has turned rings away: look everywhere. */
    if (messages == BELL_QUEUE_DEPTH) {
        for (uint32_t i = 0; i < session_slots(); i++)
            session_look(session_at(i));
    }
}

/*
 * roster.c - which sessions there are, and which of them are polled.
 *
 * A session is hot (its activity word is polled) or cold (its client rings the doorbell after
 * setting the word). One that is being closed is in no slot any more, but as long as a job of it is
 * under way its work may still be on the device: it counts when the device is to be quiet, and
 * among the suspects when the context is lost.
 */
#include "worker/roster.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <string.h>

#include "common/log.h"
#include "worker/dispatch.h"
#include "worker/graph.h"
#include "worker/launch.h"
#include "worker/lines.h"
#include "worker/partition.h"
#include "worker/stream.h"

#define COLD_A_TURN 4u /* cold sessions looked at in each turn while awake */

struct roster roster;
static uint32_t cold_cursor;
static mqd_t bell;

/* ---- Coming and going ------------------------------------------------------------------------ */

void roster_enter(struct session *session)
{
    roster.slots[session->slot] = session;
    if (session->slot >= roster.slots_used)
        roster.slots_used = session->slot + 1;
    session_heat(session);
}

static void hot_remove(struct session *session)
{
    if (!session->hot)
        return;
    session->hot = false;
    struct session *last = roster.hot[--roster.hot_count];
    roster.hot[session->hot_index] = last;
    last->hot_index = session->hot_index;
    lines_cool();
}

void roster_leave(struct session *session)
{
    roster.slots[session->slot] = NULL;
    hot_remove(session);
    session->phase = SESSION_CLOSING;
    session->pending = 0;
    session->next_leaving = roster.leaving;
    roster.leaving = session;
}

void roster_forget(struct session *session)
{
    struct session **at = &roster.leaving;

    while (*at != session)
        at = &(*at)->next_leaving;
    *at = session->next_leaving;
}

/* ---- Hot and cold ---------------------------------------------------------------------------- */

void session_heat(struct session *session)
{
    session->active_ns = dispatch.now;
    if (session->hot)
        return;
    session->hot = true;
    session->hot_index = roster.hot_count;
    roster.hot[roster.hot_count++] = session;
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
        session->active_ns = dispatch.now;
        return;
    }
    hot_remove(session);
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
    for (uint32_t n = 0; n < COLD_A_TURN && n < roster.slots_used; n++) {
        if (cold_cursor >= roster.slots_used)
            cold_cursor = 0;
        session_look(roster.slots[cold_cursor++]);
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
            session_look(roster.slots[slot]);
        if (messages == BELL_QUEUE_DEPTH)
            break;
    }
    /* A full queue has turned rings away: look everywhere. */
    if (messages == BELL_QUEUE_DEPTH) {
        for (uint32_t i = 0; i < roster.slots_used; i++)
            session_look(roster.slots[i]);
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

struct session *session_after(const struct session *session)
{
    uint32_t i = 0;

    if (session && session->phase == SESSION_CLOSING)
        return session->next_leaving;
    if (session)
        i = session->slot + 1;
    while (i < roster.slots_used && !roster.slots[i])
        i++;
    return i < roster.slots_used ? roster.slots[i] : roster.leaving;
}

bool sessions_idle(void)
{
    struct session *session;

    for (session = session_after(NULL); session; session = session_after(session)) {
        if (!session_seems_idle(session))
            return false;
    }
    for (session = session_after(NULL); session; session = session_after(session)) {
        if (!streams_idle(session))
            return false;
    }
    return true;
}

void sessions_leave_partition(struct partition *partition)
{
    for (uint32_t i = 0; i < roster.slots_used; i++) {
        struct session *session = roster.slots[i];
        if (!session || session->paused)
            continue;
        for (uint32_t n = 0; n < SEG_STREAMS; n++)
            launcher_leave(session->streams[n].launcher, partition);
        graphs_leave(session, partition);
    }
}

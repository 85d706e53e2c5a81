/*
 * session_table.c - the table of all sessions.
 *
 * A session that is being closed is no longer in a slot, but its work may still be on the device
 * until its jobs are done. So it still counts when the device must be quiet, and is among the
 * suspects when the context is lost.
 */
#include "worker/sched/session_table.h"

static struct {
    struct session *slots[LINK_SLOTS_MAX];
    uint32_t slots_used;
    struct session *closing; /* sessions being closed, linked by ->next_closing */
} table;

void session_table_add(struct session *session)
{
    table.slots[session->slot] = session;
    if (session->slot >= table.slots_used)
        table.slots_used = session->slot + 1;
}

void session_table_closing(struct session *session)
{
    table.slots[session->slot] = NULL;
    session->phase = SESSION_CLOSING;
    session->next_closing = table.closing;
    table.closing = session;
}

void session_table_remove(struct session *session)
{
    struct session **at = &table.closing;

    while (*at != session)
        at = &(*at)->next_closing;
    *at = session->next_closing;
}

struct session *session_table_at(uint32_t slot)
{
    return table.slots[slot];
}

uint32_t session_table_slots(void)
{
    return table.slots_used;
}

struct session *session_table_next(const struct session *session)
{
    uint32_t i = 0;

    if (session && session->phase == SESSION_CLOSING)
        return session->next_closing;
    if (session)
        i = session->slot + 1;
    while (i < table.slots_used && !table.slots[i])
        i++;
    return i < table.slots_used ? table.slots[i] : table.closing;
}

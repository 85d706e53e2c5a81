/*
 * session_table.c - which sessions there are.
 *
 * A session that is being closed is in no slot any more, but as long as a job of it is under way
 * its work may still be on the device: it counts when the device is to be quiet, and among the
 * suspects when the context is lost.
 */
#include "worker/session_table.h"

static struct {
    struct session *slots[LINK_SLOTS_MAX];
    uint32_t slots_used;
    struct session *leaving; /* the others by ->next_leaving */
} table;

void session_enter(struct session *session)
{
    table.slots[session->slot] = session;
    if (session->slot >= table.slots_used)
        table.slots_used = session->slot + 1;
}

void session_leave(struct session *session)
{
    table.slots[session->slot] = NULL;
    session->phase = SESSION_CLOSING;
    session->pending = 0;
    session->next_leaving = table.leaving;
    table.leaving = session;
}

void session_forget(struct session *session)
{
    struct session **at = &table.leaving;

    while (*at != session)
        at = &(*at)->next_leaving;
    *at = session->next_leaving;
}

struct session *session_at(uint32_t slot)
{
    return table.slots[slot];
}

uint32_t session_slots(void)
{
    return table.slots_used;
}

struct session *session_after(const struct session *session)
{
    uint32_t i = 0;

    if (session && session->phase == SESSION_CLOSING)
        return session->next_leaving;
    if (session)
        i = session->slot + 1;
    while (i < table.slots_used && !table.slots[i])
        i++;
    return i < table.slots_used ? table.slots[i] : table.leaving;
}

/* peer_window.c - see peer_window.h. */
#include "worker/memory/peer_window.h"

#include "worker/journal/journal.h"
#include "worker/memory/window.h"

/* Returns the peer window that contains the address; NULL: there is none. */
static struct peer_window *peer_window_of(struct session_memory *memory, uint64_t address)
{
    for (uint32_t i = 0; i < memory->peer_count; i++) {
        if (address - memory->peer[i].base < memory->peer[i].size)
            return &memory->peer[i];
    }
    return NULL;
}

static void peer_window_free(struct session *session, struct peer_window *window)
{
    struct session_memory *memory = &session->memory;

    window_unreserve(window->base, window->size, false, window->deferred);
    journal_remove(session->journal, JOURNAL_PEER, window->base);
    *window = memory->peer[--memory->peer_count];
}

bool peer_window_reserve_again(struct session *session, uint64_t base, uint64_t size)
{
    struct session_memory *memory = &session->memory;
    bool there = false;

    if (session->fenced || peer_windows_full(session) || size == 0)
        return false;
    lost_check(window_reserve_at(base, size, false, &there));
    if (there)
        memory->peer[memory->peer_count++] = (struct peer_window){base, size, false};
    return there;
}

bool peer_window_reserve(struct session *session, uint64_t base, uint64_t size)
{
    const uint64_t value[JOURNAL_VALUES] = {size};

    if (!peer_window_reserve_again(session, base, size))
        return false;
    journal_put(session->journal, JOURNAL_PEER, base, value, NULL, 0);
    return true;
}

bool peer_window_has(struct session *session, uint64_t address)
{
    return peer_window_of(&session->memory, address) != NULL;
}

bool peer_windows_full(const struct session *session)
{
    return session->memory.peer_count == PEER_WINDOWS_MAX;
}

void peer_window_deferred(struct session *session, uint64_t address)
{
    struct peer_window *window = peer_window_of(&session->memory, address);

    if (window)
        window->deferred = true;
}

bool peer_window_put(struct session *session, uint64_t address, uint64_t size, void *tag)
{
    struct session_memory *memory = &session->memory;
    const struct peer_window *window = peer_window_of(memory, address);

    return window && size <= window->size - (address - window->base) &&
           space_add(&memory->window, address, size, tag);
}

void peer_window_left(struct session *session, uint64_t address)
{
    struct session_memory *memory = &session->memory;
    struct peer_window *window = peer_window_of(memory, address);

    if (window && !space_overlapping(&memory->window, window->base, window->size))
        peer_window_free(session, window);
}

void peer_windows_settle(struct session *session)
{
    for (uint32_t i = session->memory.peer_count; i-- > 0;)
        peer_window_left(session, session->memory.peer[i].base);
}

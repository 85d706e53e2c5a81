/* wait.c - see wait.h. */
#include "client/submit/wait.h"

#include "client/base/backoff.h"
#include "client/submit/sync_request.h"
#include "common/util.h"

gs_status fault_tell(struct session *session)
{
    struct sync_request request = {.op = REQ_FAULT};
    gs_status status;

    status = sync_request(session, &request);
    return status == GS_OK && !session_alive(session) ? session_trouble(session) : status;
}

bool fault_is_late(struct session *session)
{
    const uint64_t now = clock_ns();
    uint64_t seen = 0;

    return !atomic_compare_exchange_strong_explicit(&session->fault_seen_ns, &seen, now,
                                                    memory_order_relaxed, memory_order_relaxed) &&
           now > seen && now - seen > FAULT_LATE_NS;
}

gs_status wait_position_until(struct session *session, uint32_t stream, uint64_t position,
                              uint64_t deadline_ns)
{
    struct backoff backoff = {.deadline_ns = deadline_ns};

    backoff.yield_soon =
        atomic_load_explicit(&session->server_page->yield_soon, memory_order_relaxed) != 0;
    while (!position_passed(position_complete(session, stream), position)) {
        if (!session_alive(session)) {
            /* The completion may have arrived after the first read and before the session ended. */
            if (position_passed(position_complete(session, stream), position))
                break;
            return session_trouble(session);
        }
        if (fault_seen(session) && fault_is_late(session))
            return fault_tell(session);
        if (!backoff_pause(&backoff))
            return GS_NOT_READY;
    }
    /* acquire: pairs with the thread that has called the stream's host functions (host_call.c). The
     * completion word already orders them through the worker, but a race detector does not see
     * that. */
    atomic_load_explicit(&session->client->host_done[stream], memory_order_acquire);
    return GS_OK;
}

gs_status wait_position(struct session *session, uint32_t stream, uint64_t position)
{
    return wait_position_until(session, stream, position, 0);
}

uint64_t wait_deadline(uint64_t timeout_ns)
{
    const uint64_t now = clock_ns();

    return timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
}

gs_status wait_all(struct session *session)
{
    uint64_t target[SEG_STREAMS];
    gs_status status = GS_OK;

    for (uint32_t i = 0; i < SEG_STREAMS; i++)
        target[i] = position_tail(session, i);
    for (uint32_t i = 0; i < SEG_STREAMS && status == GS_OK; i++) {
        /* Most streams are idle, and wait_position costs more than this check. */
        if (!position_passed(position_complete(session, i), target[i]))
            status = wait_position(session, i, target[i]);
    }
    return status;
}

void streams_pass(struct session *session)
{
    for (uint32_t i = 0; i < SEG_STREAMS; i++) {
        pthread_mutex_lock(&session->stream[i].lock);
        pthread_mutex_unlock(&session->stream[i].lock);
    }
}

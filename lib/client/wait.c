/* wait.c - see wait.h. */
#include "client/wait.h"

#include <sched.h>
#include <time.h>

#include "common/util.h"

void backoff_pause(struct backoff *backoff)
{
    uint64_t waited, sleep;

    /* The clock costs as much as a look at the word: read it every 16 spins. */
    cpu_relax();
    if (++backoff->spins % 16)
        return;
    if (!backoff->started_ns) {
        backoff->started_ns = clock_ns();
        return;
    }
    waited = clock_ns() - backoff->started_ns;
    if (waited < WAIT_SPIN_NS)
        return;
    if (waited < WAIT_YIELD_NS) {
        /* The processor may be wanted by the very dispatcher that is waited for. */
        sched_yield();
        backoff->spins = 15;
        return;
    }
    sleep = waited / WAIT_SLEEP_SHARE;
    if (sleep < WAIT_SLEEP_MIN_NS)
        sleep = WAIT_SLEEP_MIN_NS;
    if (sleep > WAIT_SLEEP_MAX_NS)
        sleep = WAIT_SLEEP_MAX_NS;
    /* A signal may end the sleep early; the caller looks at its word and comes back. */
    nanosleep(&(struct timespec){.tv_nsec = (long)sleep}, NULL);
    backoff->spins = 15; /* each further pause is a sleep */
}

gs_status wait_position(const struct session *session, uint32_t stream, uint64_t position)
{
    struct backoff backoff = BACKOFF_INIT;

    while (!position_passed(position_complete(session, stream), position)) {
        if (!session_alive(session)) {
            /* It may have been completed between the two looks. */
            if (position_passed(position_complete(session, stream), position))
                break;
            return session_trouble(session);
        }
        backoff_pause(&backoff);
    }
    return GS_OK;
}

gs_status wait_all(const struct session *session)
{
    uint64_t target[SEG_STREAMS];
    gs_status status = GS_OK;

    for (uint32_t i = 0; i < SEG_STREAMS; i++)
        target[i] = position_tail(session, i);
    for (uint32_t i = 0; i < SEG_STREAMS && status == GS_OK; i++)
        status = wait_position(session, i, target[i]);
    return status;
}

gs_status session_quiesce(struct session *session)
{
    for (uint32_t i = 0; i < SEG_STREAMS; i++) {
        pthread_mutex_lock(&session->stream[i].lock);
        pthread_mutex_unlock(&session->stream[i].lock);
    }
    return wait_all(session);
}

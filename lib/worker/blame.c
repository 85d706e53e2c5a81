/*
 * blame.c - the context is lost: whose work it was, and the worker's end.
 *
 * Whoever meets the loss says so; what is to blame stands in the dispatcher's tables, so another
 * thread leaves it to the dispatcher, and stops.
 */
#include "worker/blame.h"

#include <stdatomic.h>
#include <unistd.h>

#include "common/util.h"
#include "worker/dispatch.h"
#include "worker/flight.h"
#include "worker/job.h"
#include "worker/roster.h"
#include "worker/stream.h"
#include "worker/turn.h"

static _Atomic CUresult lost; /* another thread met it */
static _Thread_local bool on_dispatcher;

/* By the marks, which only the device writes, or by its completion words, for what has no mark. */
static bool suspect(const struct session *session)
{
    return session->flying || !session_seems_idle(session);
}

/* The only session with unfinished work is the one to blame for a lost context: the device writes
 * no completion after a fault, and what had ended before is not suspect. */
static const struct session *only_busy(void)
{
    const struct session *found = NULL;

    flights_poll(clock_ns());
    for (struct session *s = session_after(NULL); s; s = session_after(s)) {
        if (!suspect(s))
            continue;
        if (found)
            return NULL;
        found = s;
    }
    /* Nobody is suspect: it was the call that was being made. */
    return found ? found : turn_draining();
}

void dispatch_lost(CUresult result)
{
    if (!on_dispatcher) {
        /* seq_cst: before the look at whether the dispatcher sleeps */
        atomic_store(&lost, result);
        dispatch_wake();
        for (;;)
            pause();
    }
    const struct session *blame = only_busy();

    worker_fatal(result, blame, blame ? stream_unfinished(blame) : 0);
}

void blame_begin(void)
{
    on_dispatcher = true;
}

bool blame_wanted(void)
{
    return atomic_load(&lost);
}

void blame_look(void)
{
    CUresult result = atomic_load_explicit(&lost, memory_order_relaxed);

    if (result) {
        driver_failed("a call of a service thread", result);
        dispatch_lost(result);
    }
}

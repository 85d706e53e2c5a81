/* backoff.c - see backoff.h. */
#include "client/base/backoff.h"

#include <sched.h>
#include <time.h>

#include "common/util.h"

void backoff_pause(struct backoff *backoff)
{
    uint64_t waited, sleep;

    /* Reading the clock costs as much as reading the word, so the clock is read every 16 spins. */
    cpu_relax();
    if (++backoff->spins % 16)
        return;
    if (!backoff->started_ns) {
        backoff->started_ns = clock_ns();
        if (!backoff->yield_soon)
            return;
    }
    waited = clock_ns() - backoff->started_ns;
    if (waited < BACKOFF_SPIN_NS && !backoff->yield_soon)
        return;
    if (waited < BACKOFF_YIELD_NS) {
        /* The dispatcher that this thread waits for may need the processor. */
        sched_yield();
        backoff->spins = 15;
        return;
    }
    sleep = waited / BACKOFF_SLEEP_SHARE;
    if (sleep < BACKOFF_SLEEP_MIN_NS)
        sleep = BACKOFF_SLEEP_MIN_NS;
    if (sleep > BACKOFF_SLEEP_MAX_NS)
        sleep = BACKOFF_SLEEP_MAX_NS;
    /* A signal may end the sleep early; the caller then reads its word again and pauses again. */
    nanosleep(&(struct timespec){.tv_nsec = (long)sleep}, NULL);
    backoff->spins = 15; /* each further pause is a sleep */
}

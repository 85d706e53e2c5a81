/* backoff.c - see backoff.h. */
#include "client/base/backoff.h"

#include <time.h>

#include "common/util.h"
#include "common/yield.h"

/* Returns the length of the next sleep, which grows with the time already waited. */
static uint64_t sleep_ns(const struct backoff *backoff, uint64_t now)
{
    uint64_t sleep = (now - backoff->started_ns) / BACKOFF_SLEEP_SHARE;

    if (sleep < BACKOFF_SLEEP_MIN_NS)
        sleep = BACKOFF_SLEEP_MIN_NS;
    if (sleep > BACKOFF_SLEEP_MAX_NS)
        sleep = BACKOFF_SLEEP_MAX_NS;
    if (backoff->deadline_ns && sleep > backoff->deadline_ns - now)
        sleep = backoff->deadline_ns - now;
    return sleep;
}

bool backoff_pause_on(struct backoff *backoff, _Atomic uint32_t *word, uint32_t expected)
{
    uint64_t waited, now;

    /* Reading the clock costs as much as reading the word, so the clock is read every 16 spins. */
    cpu_relax();
    if (++backoff->spins % 16)
        return true;
    now = clock_ns();
    if (backoff->deadline_ns && now >= backoff->deadline_ns)
        return false;
    if (!backoff->started_ns)
        backoff->started_ns = now;
    waited = now - backoff->started_ns;
    if (waited < BACKOFF_SPIN_NS && (!backoff->yield_soon || yields_late(now)))
        return true;
    backoff->spins = 15; /* each further pause is a yield or a sleep */
    if (waited < BACKOFF_YIELD_NS)
        yield_timed(); /* the worker that this thread waits for may need the processor */
    else if (word)
        futex_wait(word, expected, sleep_ns(backoff, now));
    else /* a signal may end the sleep early; the caller reads its word again, and pauses again */
        nanosleep(&(struct timespec){.tv_nsec = (long)sleep_ns(backoff, now)}, NULL);
    return true;
}

bool backoff_pause(struct backoff *backoff)
{
    return backoff_pause_on(backoff, NULL, 0);
}

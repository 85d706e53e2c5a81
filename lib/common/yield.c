/* yield.c - see yield.h. */
#include "common/yield.h"

#include <sched.h>
#include <stdatomic.h>

#include "common/util.h"

/* The clock_ns time until which the process does not yield. Relaxed: a hint, which orders
 * nothing. */
static _Atomic uint64_t without_until;

bool yields_late(uint64_t now)
{
    return now < atomic_load_explicit(&without_until, memory_order_relaxed);
}

void yield_timed(void)
{
    const uint64_t before = clock_ns();

    sched_yield();
    const uint64_t after = clock_ns(), taken = after - before;
    if (taken < YIELD_LATE_NS)
        return;
    const uint64_t without = taken < YIELD_WITHOUT_NS / YIELD_WITHOUT_FACTOR
                                 ? taken * YIELD_WITHOUT_FACTOR
                                 : YIELD_WITHOUT_NS;
    atomic_store_explicit(&without_until, after + without, memory_order_relaxed);
}

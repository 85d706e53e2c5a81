/* stamp.c - see stamp.h. */
#include "worker/memory/stamp.h"

#include <stdatomic.h>

#include "common/util.h"

/* A stamp is the time or, where that is not later than the last stamp, the last stamp and 1. Stamps
 * of the next worker are greater, because the machine's clock goes on. */
uint64_t stamp(void)
{
    static _Atomic uint64_t last;
    const uint64_t now = clock_ns();
    uint64_t before = atomic_load_explicit(&last, memory_order_relaxed), next;

    do
        next = now > before ? now : before + 1;
    while (!atomic_compare_exchange_weak_explicit(&last, &before, next, memory_order_relaxed,
                                                  memory_order_relaxed));
    return next;
}

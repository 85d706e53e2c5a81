/* countdown.h - so many calls succeed, one fails, and all after it succeed. */
#ifndef GS_TEST_COUNTDOWN_H
#define GS_TEST_COUNTDOWN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Counts a call. True: it is the one that fails. Any thread. */
static inline bool countdown_over(_Atomic uint32_t *calls)
{
    uint32_t left = atomic_load_explicit(calls, memory_order_relaxed);

    do {
        if (left == UINT32_MAX)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(calls, &left, left - 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    return left == 0; /* 0 becomes UINT32_MAX: no further one fails */
}

#endif

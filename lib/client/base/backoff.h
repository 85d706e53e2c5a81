/*
 * backoff.h - the pauses of a thread that polls a word in memory: the thread first spins, then
 * yields its processor, then sleeps in growing steps. Any thread. Only the polled word carries the
 * result, so a process that is stopped during a pause loses nothing.
 */
#ifndef GS_CLIENT_BACKOFF_H
#define GS_CLIENT_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

/* The state of one wait. */
struct backoff {
    uint64_t started_ns; /* 0: there was no pause yet */
    uint32_t spins;
    bool yield_soon; /* processors are short: the wait yields from its first look at the clock on */
    uint64_t deadline_ns; /* clock_ns() at which the wait ends; 0: never */
};
#define BACKOFF_INIT                                                                               \
    {                                                                                              \
        0, 0, false, 0                                                                             \
    }

/* A pause is a short spin in the first BACKOFF_SPIN_NS of the wait, a sched_yield up to
 * BACKOFF_YIELD_NS, and a sleep from then on. A sleep takes 70 us or more because of the kernel's
 * timer slack, so sleeps are for waits that are long compared with that. */
#define BACKOFF_SPIN_NS      20000u
#define BACKOFF_YIELD_NS     4000000u
#define BACKOFF_SLEEP_MIN_NS 20000u
#define BACKOFF_SLEEP_MAX_NS 20000000u /* bounds the wake-ups of a thousand waiters */
#define BACKOFF_SLEEP_SHARE  128u      /* a sleep lasts the time waited so far divided by this */
/* Returns false once the deadline has passed. */
bool backoff_pause(struct backoff *backoff);
/* Pauses as backoff_pause does, but sleeps on the futex `word` while it is `expected`, so that a
 * waker can end the sleep. NULL: no futex. */
bool backoff_pause_on(struct backoff *backoff, _Atomic uint32_t *word, uint32_t expected);

#endif

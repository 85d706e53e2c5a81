/*
 * yield.h - yields of a thread that waits awake to other threads, as long as the thread gets its
 * processor back in time. Any thread of any process.
 *
 * sched_yield usually returns after the other waiting threads have had a turn of a few microseconds
 * each. From Linux 6.18 on a thread that yields forfeits the rest of its time slice: beside a busy
 * thread of nice -10, as a dispatch lane is, it returns after some 28 ms (a slice of 2.8 ms by the
 * weights' ratio). So each yield is timed, and after a late one the process stops yielding for a
 * while: a thread that waits for the device spins longer first, and a thread that waits for another
 * process sleeps.
 */
#ifndef GS_COMMON_YIELD_H
#define GS_COMMON_YIELD_H

#include <stdbool.h>
#include <stdint.h>

/* A yield that takes longer is late. */
#define YIELD_LATE_NS        100000u
/* After a late yield the process stops yielding for this many times the duration of that yield, for
 * a second at most, so late yields take a hundredth of the time. A wait for the device that lasts
 * longer than 20 us yields all the same (client/base/backoff.h). */
#define YIELD_WITHOUT_FACTOR 100u
#define YIELD_WITHOUT_NS     1000000000u

/* Returns whether at `now` (clock_ns) the process has stopped yielding after a late yield. */
bool yields_late(uint64_t now);
/* Yields the processor, and notes a late yield. */
void yield_timed(void);

#endif

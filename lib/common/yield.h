/*
 * yield.h - a thread that waits awake lets other threads have its processor, as long as it gets the
 * processor back in time. Any thread of any process.
 *
 * sched_yield usually returns after those who also wait have had a turn of a few microseconds each.
 * From Linux 6.18 on a thread that yields forfeits the rest of its time slice: beside a busy thread
 * of nice -10, as a dispatch lane is, it returns after some 28 ms (a slice of 2.8 ms by the
 * weights' ratio). So each yield is timed, and after one that was late the process does without for
 * a while: who waits for the device spins for longer first, and who waits for another process
 * sleeps.
 */
#ifndef GS_COMMON_YIELD_H
#define GS_COMMON_YIELD_H

#include <stdbool.h>
#include <stdint.h>

/* A yield that takes longer is late. */
#define YIELD_LATE_NS        100000u
/* After a late yield the process does without for so many times what the yield took, but for a
 * second at most: so late yields take a hundredth of the time. A wait for the device that lasts
 * longer than 20 us yields all the same (client/base/backoff.h). */
#define YIELD_WITHOUT_FACTOR 100u
#define YIELD_WITHOUT_NS     1000000000u

/* Whether a yield of this process was late not long before `now` (clock_ns). */
bool yields_late(uint64_t now);
/* Yields the processor, and notes if that took long. */
void yield_timed(void);

#endif

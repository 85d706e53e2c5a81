/* sm_time.h - of the time that has passed on which SMs, how much was whose; see sm_time.c.
 * Dispatcher. */
#ifndef GS_WORKER_SCHED_SM_TIME_H
#define GS_WORKER_SCHED_SM_TIME_H

#include <stdint.h>

struct partition;

/* Work goes to these SMs, NULL: the whole device. Returns what sm_time_take is to be told then. */
uint32_t sm_time_timeline(const struct partition *partition);

/* Work that fills these SMs was there from `begin` to `end`: how much of that time was its own?
 * What nobody who ended before it and has some of the same SMs accounts for. In the order of the
 * ends. */
uint64_t sm_time_take(uint32_t timeline, uint64_t begin, uint64_t end);

#endif

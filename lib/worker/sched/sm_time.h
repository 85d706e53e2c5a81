/*
 * sm_time.h - divides the time that has passed on the SMs among the sessions; see sm_time.c. Main
 * lane: what other lanes launch fills so little that it is not divided.
 */
#ifndef GS_WORKER_SCHED_SM_TIME_H
#define GS_WORKER_SCHED_SM_TIME_H

#include <stdint.h>

struct partition;

/* The timeline of these SMs (NULL: the whole device), for sm_time_take once work on them has
 * ended. */
uint32_t sm_time_timeline(const struct partition *partition);

/* Work that fills the timeline's SMs was on the device from `begin` to `end`. Returns how much of
 * that time is its own: the part that no work with some of the same SMs which ended before accounts
 * for. Calls come in the order of the ends. */
uint64_t sm_time_take(uint32_t timeline, uint64_t begin, uint64_t end);

#endif

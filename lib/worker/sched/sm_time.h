/*
 * sm_time.h - divides the time that has passed on the SMs among the sessions; see sm_time.c. Called
 * by the main lane: work of other lanes is so narrow that its time is not divided.
 */
#ifndef GS_WORKER_SCHED_SM_TIME_H
#define GS_WORKER_SCHED_SM_TIME_H

#include <stdint.h>

struct partition;

/* Returns the timeline of the partition's SMs (NULL: of the whole device), to be passed to
 * sm_time_take once work on these SMs has ended. */
uint32_t sm_time_timeline(const struct partition *partition);

/* Accounts for work that filled the timeline's SMs and was on the device from `begin` to `end`.
 * Returns how much of that time belongs to this work: the part for which no earlier ended work with
 * some of the same SMs was accounted. The caller reports work in the order of its ends. */
uint64_t sm_time_take(uint32_t timeline, uint64_t begin, uint64_t end);

#endif

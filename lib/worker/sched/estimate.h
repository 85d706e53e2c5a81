/*
 * estimate.h - what a launch is thought to take of the device: time, SMs, width. A kernel's time is
 * what earlier launches of it took (span_learn). Reads only; the session's lane.
 */
#ifndef GS_WORKER_SCHED_ESTIMATE_H
#define GS_WORKER_SCHED_ESTIMATE_H

#include "worker/partition/kernel_launch.h"

/* How many times a grid fills the device, at least 1: a kernel's time grows with that number. */
double estimate_waves(const uint32_t grid[3], const uint32_t block[3]);
/* How long a launch is thought to run, in ns; SCHED_UNKNOWN_NS where the kernel has never run. */
uint64_t estimate_ns(const struct kernel *kernel, const uint32_t grid[3], const uint32_t block[3]);
/* Whether the launch is known to be short. */
bool estimate_short(const struct launch *launch);
/* Whether it, with its estimate_ns, also fills so little of the device that it delays no other
 * session. */
bool estimate_light(const struct launch *launch, uint64_t ns);

/* The SMs of a partition; NULL: of the device. */
uint32_t estimate_partition_sms(const struct partition *partition);
/* On how many SMs the launch's blocks can be at a time. */
uint32_t estimate_sms(const struct launch *launch);
/* The partition's part of the device, and the part that a launch's blocks fill, in units of
 * SCHED_WIDTH. */
uint64_t estimate_partition_width(const struct partition *partition);
uint64_t estimate_width(const struct launch *launch);
/* Whether a launch of that width counts as filling its SMs: whether it fills more than a quarter of
 * them. It is not known how many kernels of that size fit beside each other, nor whether they slow
 * each other down, and the time of kernels that do run side by side could be charged to none of
 * them. So they take turns. */
bool estimate_fills(const struct launch *launch, uint64_t width);
/* Whether the launch counts as filling its SMs also in a domain that has other SMs. Partitions of
 * less than half of the device may share no SM with each other, and kernels in them are not to wait
 * for each other. */
bool estimate_fills_any(const struct launch *launch, uint64_t width);

#endif

/*
 * estimate.h - estimates what a launch takes of the device: time, SMs, width. A kernel's time is
 * learned from its earlier launches (span_learn). These functions change nothing. Called by the
 * session's lane.
 */
#ifndef GS_WORKER_SCHED_ESTIMATE_H
#define GS_WORKER_SCHED_ESTIMATE_H

#include "worker/partition/kernel_launch.h"

/* Returns the number of waves of a grid: how many times it fills the device, at least 1. A kernel's
 * time grows with that number. */
double estimate_waves(const uint32_t grid[3], const uint32_t block[3]);
/* Returns for how many nanoseconds a launch is expected to run; SCHED_UNKNOWN_NS if the kernel has
 * never been measured. */
uint64_t estimate_ns(const struct kernel *kernel, const uint32_t grid[3], const uint32_t block[3]);
/* Returns whether the launch is known to be short. */
bool estimate_short(const struct launch *launch);
/* Returns whether a launch, whose estimate_ns is `ns`, is known to be short and also fills so
 * little of the device that it delays no other session. */
bool estimate_light(const struct launch *launch, uint64_t ns);

/* Returns the number of SMs of a partition; NULL: of the device. */
uint32_t estimate_partition_sms(const struct partition *partition);
/* Returns on how many SMs the launch's blocks can run at a time. */
uint32_t estimate_sms(const struct launch *launch);
/* Return the part of the device that a partition has, and the part that a launch's blocks fill, in
 * units of SCHED_WIDTH. */
uint64_t estimate_partition_width(const struct partition *partition);
uint64_t estimate_width(const struct launch *launch);
/* Returns whether a launch of this width counts as filling its SMs, which it does if it fills more
 * than a quarter of them. Such kernels take turns: it is not known how many kernels of that size
 * fit beside each other, nor whether they slow each other down, and the time of kernels that do run
 * side by side could not be charged to any one of them. */
bool estimate_fills(const struct launch *launch, uint64_t width);
/* Returns whether the launch counts as filling its SMs even in a domain that has other SMs too.
 * Partitions of less than half of the device may share no SM with each other, so kernels in them
 * must not wait for each other. */
bool estimate_fills_any(const struct launch *launch, uint64_t width);

#endif

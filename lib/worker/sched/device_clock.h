/*
 * device_clock.h - converts the device's time in a fence to the host's time (clock_ns).
 *
 * The true host time of a fence lies between the dispatch of its work and the moment when the lane
 * read the host's clock after finding the fence. The least delay between the two clock readings
 * over 20 ms is taken to be zero, which gives the offset of the clocks. Each lane has a
 * device_clock of its own, which only that lane uses.
 */
#ifndef GS_WORKER_SCHED_DEVICE_CLOCK_H
#define GS_WORKER_SCHED_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define DEVICE_CLOCK_BITS 40u /* the low bits of the device's clock, which a fence holds */
#define DEVICE_CLOCK_MASK ((UINT64_C(1) << DEVICE_CLOCK_BITS) - 1)

/* All zero: the offset is not known yet. */
struct device_clock {
    bool known;
    uint64_t offset; /* the device's clock minus the host's */
    /* the least delay of the fences seen since the last correction; the time of the next
     * correction */
    uint64_t least_delay, next_correct;
};

/* Returns the host's time (clock_ns) of a fence with the device's time `device` that was found just
 * now. The result is not before `dispatch` and not after now. */
uint64_t device_clock_host_ns(struct device_clock *clock, uint64_t device, uint64_t dispatch);

#endif

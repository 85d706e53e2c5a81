/*
 * device_clock.h - when, by the host's clock, a fence was written, which bears the device's clock.
 * The fence's time lies between the work's dispatch and a reading of the host's clock after the
 * fence was found. The least delay between the fence's time and that reading, over 20 ms, is taken
 * to be zero. One for each lane, which alone uses it.
 */
#ifndef GS_WORKER_SCHED_DEVICE_CLOCK_H
#define GS_WORKER_SCHED_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define DEVICE_CLOCK_BITS 40u /* of the device's clock, those that a fence holds */
#define DEVICE_CLOCK_MASK ((UINT64_C(1) << DEVICE_CLOCK_BITS) - 1)

/* All zero: nothing is known. */
struct device_clock {
    bool known;
    uint64_t offset; /* the device's clock less the host's */
    /* least delay among the fences seen; when the offset is corrected next */
    uint64_t least_delay, next_correct;
};

/* The host's time (clock_ns) of a fence with the device's time `device` that has been found now:
 * not before the dispatch, and not after now. */
uint64_t device_clock_host_ns(struct device_clock *clock, uint64_t device, uint64_t dispatch);

#endif

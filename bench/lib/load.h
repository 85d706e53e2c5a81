/*
 * load.h - kernels of the size that a measurement wants: small ones, of which a request has some,
 * and wide ones, which fill the device for a given time. In a cell's tenants.
 *
 * A wide kernel is many short blocks, as a matrix product's is: more SMs run it sooner, and a
 * kernel of higher priority need not wait long for room.
 */
#ifndef GS_BENCH_LOAD_H
#define GS_BENCH_LOAD_H

#include <stdint.h>

#include "lib/device.h"

/* Finds how many rounds a block of a wide kernel computes. Called before any of the cell's tenants
 * uses the device. */
void load_calibrate(void);

/* Each launches a kernel that writes to `out`, 256 bytes of device memory. A small kernel has
 * `blocks` blocks of 128 threads; a wide one takes `ns`. */
void load_small(const struct device_ops *device, uint64_t out, unsigned blocks);
void load_wide(const struct device_ops *device, uint64_t out, double ns);

/* Nanoseconds that one of many wide kernels takes, with nobody else on the device. */
double load_measure(const struct device_ops *device, uint64_t out, double ns);

/* A tenant that always has the next kernels queued before the last ones have ended. */
struct saturation {
    const struct device_ops *device;
    uint64_t out;
    double ns;                   /* of a kernel, as asked for */
    uint64_t issued, done;       /* kernels, in runs that end with an event */
    uint64_t done_ns, former_ns; /* when `done` were known to have ended; and those before */
    uint64_t former;
    uint32_t run; /* kernels */
};
void saturation_begin(struct saturation *s, const struct device_ops *device, double ns);
/* Queues another run, then waits for the oldest. */
void saturation_step(struct saturation *s);
/* How many kernels had ended at a time between the last two steps, parts of them counted. */
double saturation_at(const struct saturation *s, uint64_t time);
/* Waits for all runs. */
void saturation_end(struct saturation *s);

#endif

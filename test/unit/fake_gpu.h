/*
 * fake_gpu.h - how a GPU takes kernels of many streams, as numbers: see fake_gpu.c.
 *
 * A kernel is as many units as it has work, of which the device holds GPU_SLOTS at a time. Times
 * are nanoseconds. One thread.
 */
#ifndef GS_TEST_FAKE_GPU_H
#define GS_TEST_FAKE_GPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define GPU_STREAMS 16u
#define GPU_SLOTS   32u
#define GPU_PARTS   2u

/* Nothing queued, nothing running; it is `now`. */
void gpu_reset(uint64_t now);
/* The stream's kernels go to this part of the device, which has SMs of its own. Before the first.
 */
void gpu_part(unsigned stream, unsigned part);
/* Into the stream's queue: a kernel that takes `ns` where it has the device for itself. The device
 * knows of it at `when`. Lower priorities go first. */
void gpu_kernel(unsigned stream, uint64_t when, uint64_t ns, int priority);
/* The same of a kernel of `units` units, not more than the device holds, which all begin at a time:
 * with others beside it, it takes longer only as far as units slow each other down. */
void gpu_grid(unsigned stream, uint64_t when, uint64_t ns, uint32_t units, int priority);
/* So many times as fast as on a full device do units run on an empty one: 4 after gpu_reset, as
 * units that wait for arithmetic; 1: as units that wait for memory, which do not slow each other
 * down. */
void gpu_speed(double most);
/* The device's clock, by which fences are written, runs so much faster than time: 1e-4 as bad ones.
 * Not changed by gpu_reset. */
void gpu_drift(double part);
/* A kernel of one thread that writes where and when it ran: `low` and above it 40 bits of time. */
void gpu_fence(unsigned stream, uint64_t when, _Atomic uint64_t *fence, uint64_t low, int priority);
/* All until then happens. */
void gpu_run(uint64_t until);
/* Work of the stream that is done: what its kernels take alone. */
double gpu_done(unsigned stream);

#endif

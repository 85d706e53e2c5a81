/*
 * fake_gpu.h - a GPU that takes kernels of many streams, as numbers: see fake_gpu.c.
 *
 * A kernel has a number of units of work, of which the device holds GPU_SLOTS at a time. Times are
 * nanoseconds. One thread.
 */
#ifndef GS_TEST_FAKE_GPU_H
#define GS_TEST_FAKE_GPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define GPU_STREAMS 16u
#define GPU_SLOTS   32u
#define GPU_PARTS   2u

/* Empties the device at the time `now`: nothing is queued or running. */
void gpu_reset(uint64_t now);
/* Puts the stream's kernels on this part of the device, which has SMs of its own. Called before the
 * stream's first kernel. */
void gpu_part(unsigned stream, unsigned part);
/* Queues a kernel in the stream, which takes `ns` when it has the device to itself. The device
 * knows of the kernel at `when`. Lower priorities go first. */
void gpu_kernel(unsigned stream, uint64_t when, uint64_t ns, int priority);
/* Queues a kernel of `units` units, no more than the device holds, which all begin at the same
 * time. Beside others the kernel takes longer only as far as units slow each other down. */
void gpu_grid(unsigned stream, uint64_t when, uint64_t ns, uint32_t units, int priority);
/* How many times faster units run on an empty device than on a full one. 4, as after gpu_reset, is
 * for units that wait for arithmetic; 1 is for units that wait for memory, which do not slow each
 * other down. */
void gpu_speed(double most);
/* How much faster than time the device's clock runs, by which fences are written: 1e-4 as bad
 * clocks do. gpu_reset leaves it. */
void gpu_drift(double part);
/* Queues a kernel of one thread that writes a fence where it ran: `low` and above it 40 bits of the
 * time. */
void gpu_fence(unsigned stream, uint64_t when, _Atomic uint64_t *fence, uint64_t low, int priority);
/* Plays all that happens until then. */
void gpu_run(uint64_t until);
/* The stream's work that is done, in the time that its kernels take alone. */
double gpu_done(unsigned stream);

#endif

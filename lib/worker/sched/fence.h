/*
 * fence.h - the memory of the fences: for each stream of each slot, a word that the device writes
 * after the stream's work (inflight.h). Called by any thread.
 *
 * The low 24 bits of a fence count the stream's fences; the 40 bits above them are the device's
 * clock.
 */
#ifndef GS_WORKER_SCHED_FENCE_H
#define GS_WORKER_SCHED_FENCE_H

#include "common/link.h"
#include "worker/driver/driver.h"
#include "worker/sched/device_clock.h"

#define FENCE_SEQUENCE_BITS 24u
#define FENCE_SEQUENCE_MASK ((UINT64_C(1) << FENCE_SEQUENCE_BITS) - 1)
static_assert(FENCE_SEQUENCE_BITS + DEVICE_CLOCK_BITS == 64, "a fence is one word");

/* A slot has one fence more than it has streams, so that each slot begins at a cache line. */
#define FENCES_OF_SLOT 64u
#define FENCES         ((size_t)LINK_SLOTS_MAX * FENCES_OF_SLOT)
static_assert(SEG_STREAMS <= FENCES_OF_SLOT, "each stream of a slot has a fence");

/* Allocates and registers the fences' memory. Called once, with the context current, before there
 * are streams. */
CUresult fences_init(void);
/* Return the fence with this number, which is below FENCES, and its address on the device. */
const _Atomic uint64_t *fence_at(size_t number);
CUdeviceptr fence_address(size_t number);

#endif

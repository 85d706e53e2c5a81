/*
 * worker.h - the worker's parts, and which thread owns which state.
 *
 *   control   (main thread) reads the link to the supervisor; turns LINK_OPEN and LINK_CLOSE into
 *             jobs
 *   lanes     dispatch lanes: each polls its sessions, drains their rings and issues their work;
 *             only the lane that has a session writes the session's tables (streams, kernels,
 *             allocations, host blocks, events, graphs). The main lane also sends jobs on their way
 *             and decides what concerns all sessions (lanes.c)
 *   service   a few threads for slow driver calls (allocate, load, open, close), one job per
 *             session at a time
 *
 * A job's way: the main lane makes the job and runs `prepare`; a service thread runs `work`; the
 * main lane runs `install` and answers the tenant. Jobs change a session's tables only in prepare
 * and install, so work may read them. The memory allocator (window, chunks) belongs to `work`.
 */
#ifndef GS_WORKER_DRIVER_WORKER_H
#define GS_WORKER_DRIVER_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"
#include "common/sm_mask.h"
#include "common/wire.h"
#include "worker/driver/driver.h"
#include "worker/driver/lost.h"
#include "worker/driver/supervisor_link.h"

/* The state that exists once for the whole worker. */
struct worker {
    CUdevice device;
    CUcontext context;
    struct link_device info;
    uint64_t granularity; /* granularity of cuMemCreate */
    bool machine_code;    /* the driver loads it; the software device runs PTX only */
    /* Device memory that the driver keeps when it destroys a green context; 0: none. */
    uint64_t partition_lost;
    struct link_policy policy;
    uint32_t policy_count; /* how many policies there have been; at least 1 */
};

/* The worker's state, which every folder reads. The pointer is constant, as the driver table's
 * (driver.h). */
extern const struct worker *const worker;

/* Returns the state for writing, to be filled at the start, before any other thread runs. */
struct worker *worker_begin(void);
/* Sets another policy. Every lane reads the policy, so the main lane sets it while no other lane
 * has a session. */
void worker_set_policy(const struct link_policy *policy);

#endif

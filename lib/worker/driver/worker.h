/*
 * worker.h - the worker's parts, and which thread owns which state.
 *
 *   control     (main thread) reads the link to the supervisor; turns LINK_OPEN and LINK_CLOSE
 *               into jobs
 *   dispatcher  polls sessions, drains rings, issues all work on tenants' streams; the only
 *               writer of a session's tables (streams, kernels, allocations, host blocks,
 *               events, graphs)
 *   service     a few threads for slow driver calls (allocate, load, open, close), one job per
 *               session at a time
 *
 * A job's way: the dispatcher makes it and runs `prepare`; a service thread runs `work`; the
 * dispatcher runs `install` and answers the tenant. A session's tables change only in prepare and
 * install, so work may read them. The memory allocator (window, chunks) belongs to `work`.
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

/* What the whole worker has one of. */
struct worker {
    CUdevice device;
    CUcontext context;
    struct link_device info;
    uint64_t granularity; /* of cuMemCreate */
    /* Device memory of a green context that the driver keeps when it is destroyed; 0: none. */
    uint64_t partition_lost;
    const char *bell_name;
    struct link_stats *stats;  /* LINK_SLOTS_MAX of them */
    struct link_policy policy; /* the dispatcher's */
    uint32_t policy_count;     /* of policies so far; at least 1 */
};
extern struct worker worker;

#endif

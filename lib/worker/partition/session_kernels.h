/*
 * session_kernels.h - a session's kernels, as launches need them. The module folder adds and
 * removes them; the folders below it look them up. They belong to the session's lane and to its
 * jobs.
 */
#ifndef GS_WORKER_PARTITION_SESSION_KERNELS_H
#define GS_WORKER_PARTITION_SESSION_KERNELS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/rewrite/rewrite.h"
#include "worker/driver/driver.h"

struct kernel {
    struct kernel *next; /* the next kernel of the same module */
    uint32_t id;
    CUfunction function;
    struct module *module;
    uint64_t serial; /* the session's serial number when the kernel was made */
    uint32_t param_count, param_bytes;
    uint32_t max_threads;      /* of a block */
    uint32_t max_dynamic_smem; /* of a block */
    uint32_t sm_threads;       /* threads of it that an SM has room for */
    uint32_t static_smem;      /* of a block */
    uint16_t cluster[3];       /* blocks of its clusters; zeros: it does not say */
    bool in_clusters;          /* it runs only in clusters */
    bool syncs_grid;           /* it needs a cooperative launch (ptx/rewrite/grid_sync.h) */
    uint64_t barrier; /* its grid barrier, in a fenced module (GRID_VARIABLE); 0: the driver's */
    bool signals_end; /* it has a completion parameter, behind the tenant's (ptx/rewrite) */
    bool ends_after;  /* it ends after all that it depends on, whenever it began (likewise) */
    bool windowed;    /* it has a window parameter, before the completion parameter */
    /* offsets of tensor maps in its parameters, in a fenced session: FENCE_MAP_BYTES each */
    uint16_t map_count, map_offset[FENCE_MAPS];
    uint64_t variables;     /* address of its module's variables, for the window parameter */
    _Atomic int carveout;   /* see carveout.c */
    uint16_t *param_offset; /* param_count entries */
    /* how long it ran lately, for each wave of its grid (inflight.c); 0: never measured; owned by
     * the session's lane */
    double wave_ns;
    /* its launches that may note a fault, those of the last stream (submit/launch_range.h); owned
     * by the session's lane */
    struct {
        uint64_t streams; /* bits of all streams that have launched it */
        uint32_t stream;
        uint64_t first, last;
    } faults;
    char name[64];
};

struct session_kernels {
    struct kernel **table; /* by id */
    uint32_t capacity;
    uint32_t lowest; /* no lower id is free */
};

/* Returns the kernel with this id; NULL: there is none. */
static inline struct kernel *kernel_find(const struct session_kernels *kernels, uint32_t id)
{
    return id < kernels->capacity ? kernels->table[id] : NULL;
}

#endif

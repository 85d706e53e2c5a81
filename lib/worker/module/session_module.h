/*
 * session_module.h - a session's modules and kernels, and what these print. The session's lane, and
 * a job of the session.
 */
#ifndef GS_WORKER_MODULE_SESSION_MODULE_H
#define GS_WORKER_MODULE_SESSION_MODULE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "worker/driver/driver.h"

struct host_block;
struct ptx_rewrite_report;

struct kernel {
    struct kernel *next; /* of the same module */
    uint32_t id;
    CUfunction function;
    struct module *module;
    uint64_t serial; /* the session's serial number when the kernel was made */
    uint32_t param_count, param_bytes;
    uint32_t max_threads;      /* of a block */
    uint32_t max_dynamic_smem; /* of a block */
    uint32_t sm_threads;       /* the threads of it that an SM has room for */
    uint32_t static_smem;      /* of a block */
    bool tells_end;            /* it has a completion parameter behind the tenant's (ptx/rewrite) */
    _Atomic int carveout;      /* see carveout.c */
    uint16_t *param_offset;    /* param_count entries */
    /* how long it ran lately, for each wave of its grid (inflight.c); 0: never measured. The
     * session's lane */
    double wave_ns;
    char name[64];
};

struct module {
    CUmodule cu;
    uint32_t id;
    struct kernel *kernels;
    struct ptx_rewrite_report *rewrite; /* tells which kernels have an own store; NULL: none has */
};

struct session_module {
    struct module **modules;
    uint32_t module_capacity;
    struct kernel **kernels;
    uint32_t kernel_capacity;
    struct host_block *print; /* the print block; NULL: no kernel prints */
    int print_id;             /* its System V segment's id */
};

#endif

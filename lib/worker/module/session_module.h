/* session_module.h - a session's modules and kernels, and what these print. The session's lane, and
 * a job of the session. */
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
    uint64_t serial; /* of the session, when it was made */
    uint32_t param_count, param_bytes;
    uint32_t max_threads;      /* a block */
    uint32_t max_dynamic_smem; /* a block */
    uint32_t sm_threads;       /* an SM has room for */
    uint32_t static_smem;      /* a block */
    bool tells_end;            /* it has a completion parameter behind its own (ptx/rewrite) */
    _Atomic int carveout;      /* see carveout.c */
    uint16_t *param_offset;    /* param_count of them */
    double
        wave_ns; /* how long it ran lately, by waves_of its grid; 0: never measured. Dispatcher */
    char name[64];
};

struct module {
    CUmodule cu;
    uint32_t id;
    struct kernel *kernels;
    struct ptx_rewrite_report *rewrite; /* which kernels tell their own end; NULL: none */
};

struct session_module {
    struct module **modules;
    uint32_t module_capacity;
    struct kernel **kernels;
    uint32_t kernel_capacity;
    struct host_block *print; /* what its kernels print goes there; NULL: none prints */
    int print_id;             /* System V's */
};

#endif

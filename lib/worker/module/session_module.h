/*
 * session_module.h - a session's modules, and what their kernels print. The session's lane, and a
 * job of the session.
 */
#ifndef GS_WORKER_MODULE_SESSION_MODULE_H
#define GS_WORKER_MODULE_SESSION_MODULE_H

#include <stdint.h>

#include "worker/driver/driver.h"

struct fault_records;
struct host_block;
struct kernel;
struct ptx_rewrite_report;

struct module {
    CUmodule cu;
    uint32_t id;
    struct kernel *kernels;
    struct ptx_rewrite_report *rewrite; /* what the passes did; NULL: nothing was rewritten */
    uint64_t variables; /* where the global variables of a fenced module lie; 0: it has none */
};

struct session_module {
    struct module **modules;
    uint32_t module_capacity;
    struct host_block *print; /* the print block; NULL: no kernel prints or traps */
    int print_id;             /* its System V segment's id */
    /* in the print block, once a kernel that can fault is loaded; the session's lane */
    struct fault_records *faults;
};

#endif

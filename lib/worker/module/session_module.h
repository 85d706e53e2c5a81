/*
 * session_module.h - a session's modules, the output of their kernels, and the heap that these
 * allocate from. The session's lane, and a job of the session.
 */
#ifndef GS_WORKER_MODULE_SESSION_MODULE_H
#define GS_WORKER_MODULE_SESSION_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/rewrite/grid_sync.h"
#include "worker/driver/driver.h"

struct fault_notes;
struct host_block;
struct kernel;
struct ptx_rewrite_report;

struct module {
    CUmodule cu;
    uint32_t id;
    struct kernel *kernels;
    const char **kernel_names; /* the driver's strings, once they were asked for; NULL: not yet */
    uint32_t kernel_count;
    struct ptx_rewrite_report *rewrite; /* the passes' report; NULL: nothing was rewritten */
    char *left_out; /* the software device's lines on kernels that it cannot run; may be NULL */
    struct grid_sync grid; /* the kernels that need a cooperative launch */
    uint64_t variables;    /* address of a fenced module's global variables; 0: it has none */
    uint64_t *named;       /* addresses of its variables that copies may name */
    uint32_t named_count, named_capacity;
    /* address of the barrier of its grids, once it was looked for; 0: it has none */
    uint64_t barrier;
    bool barrier_sought;
    CUdeviceptr window;  /* the address of its struct fence_window; 0: it has none */
    unsigned char *code; /* the image for the driver; NULL once it is loaded */
    uint64_t code_size;
    /* why the next worker could not restore it; NULL: it could, or the journal says so already */
    const char *stays;
    unsigned char *source; /* the tenant's image, until the journal has it */
    uint64_t source_size;
    uint64_t server_bytes; /* the charge for its server memory, see memory/server_memory.h */
    uint64_t driver_bytes; /* the charge for its device memory, see memory/driver_memory.h */
};

struct session_module {
    struct module **modules;
    uint32_t module_capacity, module_lowest; /* no number below module_lowest is free */
    uint32_t stack; /* bytes that each thread of its kernels has at least; 0: CUDA's default */
    uint32_t fence_stack; /* how much the fence takes of it besides, at most; the quiet thread's */
    struct host_block *print; /* the print block; NULL: no kernel prints or traps */
    int print_id;             /* its System V segment's id */
    uint64_t heap;            /* address of its kernels' heap; 0: no kernel allocates */
    uint64_t heap_asked;      /* the heap's size, fixed once the heap exists; 0: the default */
    /* in the print block, once a kernel that may fault is loaded; owned by the session's lane */
    struct fault_notes *faults;
    uint64_t strays; /* stray accesses that the session's figures have counted */
    bool strayed;    /* the first stray access has been seen */
};

#endif

// Modules: an image becomes a program whose variables lie in device memory. Functions are a
// module's kernels.
//
// Owns modules, which live as long as their handle and each grid of theirs. Any thread runs it.
//
// May include: context, lower, interp, memory, device.
#ifndef GS_SOFTCUDA_MODULE_MODULE_H
#define GS_SOFTCUDA_MODULE_MODULE_H

#include <stdatomic.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "softcuda/context/context.h"
#include "softcuda/lower/program.h"

struct CUfunc_st {
    uint32_t magic;
    CUmodule module;
    const struct exec_kernel *kernel;
    uint32_t registers;   // what a thread is charged
    uint32_t max_threads; // of a block
    _Atomic uint32_t max_dynamic_shared;
    _Atomic int carveout;
    _Atomic bool large_clusters; // beyond what each device takes
};

struct CUmod_st {
    uint32_t magic;
    CUcontext root;
    _Atomic uint32_t references; // the handle, and each grid of it
    CUmodule next;               // in its context, under context.c's lock
    struct ptx_module *ptx;
    struct exec_program *program;
    uint64_t *addresses; // of the variables, by index in ptx->vars; 0: not in device memory
    uint64_t storage;    // the allocation that they are in; 0: none
    uint32_t function_count;
    struct CUfunc_st functions[];
};

// LOG takes the reader's message about a bad image and always ends with NUL.
CUresult module_load(CUcontext root, const void *image, char *log, size_t log_size, CUmodule *out);
CUresult module_unload(CUmodule module);
CUresult module_check(CUcontext root, CUmodule module);
CUresult function_check(CUfunction function);
CUresult module_function(CUmodule module, const char *name, CUfunction *out);
CUresult module_global(CUmodule module, const char *name, uint64_t *address, size_t *size);

void module_reference(CUmodule module);
void module_release(CUmodule module); // NULL is fine

// Unloads all modules of ROOT, which is closing.
void module_unload_all(CUcontext root);

#endif

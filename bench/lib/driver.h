/*
 * driver.h - the CUDA driver of a cell, loaded by its file: libcuda.so.1, or the software device,
 * which exports the same names. A call that fails ends the process by cell_fail.
 */
#ifndef GS_BENCH_DRIVER_H
#define GS_BENCH_DRIVER_H

#include "cuda/abi.h"

struct driver {
#define DRIVER_MEMBER(name, args) CUresult(*name) args;
    CUDA_ABI_FUNCTIONS(DRIVER_MEMBER)
#undef DRIVER_MEMBER
    void *library; /* NULL: not loaded yet */
};

void driver_load(struct driver *driver, const char *path);
/* A function that the table lacks. */
void *driver_symbol(const struct driver *driver, const char *name);
/* Ends the process, with the call's name and the error's, unless the result is CUDA_SUCCESS. */
void driver_check(const struct driver *driver, const char *name, CUresult result);

/* A call of the file's driver, `cu`. */
#define CU(name, ...) driver_check(&cu, #name, cu.name(__VA_ARGS__))

#endif

/*
 * driver.h - the CUDA driver, as one table of entry points filled by dlsym.
 *
 * All calls of the worker to a device go through the table behind `cu`. Its entries are those of
 * libcuda.so.1, or of the software device, which exports the same names. Only driver_open writes
 * the table, once, before any thread starts. The pointer is constant and in a cache line that every
 * call reads, so going through it costs one load that always hits.
 */
#ifndef GS_WORKER_DRIVER_DRIVER_H
#define GS_WORKER_DRIVER_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda/abi.h"
#include "gshare.h"

struct driver {
#define DRIVER_MEMBER(name, args) CUresult(*name) args;
    CUDA_ABI_FUNCTIONS(DRIVER_MEMBER)
    /* entries that are NULL in a driver without them */
    CUDA_ABI_OPTIONAL_FUNCTIONS(DRIVER_MEMBER)
#undef DRIVER_MEMBER
};

extern const struct driver *const cu;

/* Loads the driver of this kind: "cuda", "soft", or "auto", which means CUDA if CUDA has a device,
 * else the software device. Fills name with the library and its version, for people. text: on
 * false, why there is no driver; on true, why "auto" chose the software device, else "". */
bool driver_open(const char *kind, char name[32], char *text, size_t text_size);

/* Returns whether the driver loads machine code for NVIDIA's devices. The software device runs PTX
 * only. */
bool driver_takes_machine_code(void);

/* A driver call is written DRV(cuName, args...), which notes a failure and the call's name, for
 * each thread; or DRV_MUST (lost.h), for a call that only fails when the context is lost; or
 * DRV_ASK (lost.h), for a call whose failure is an answer. */
#define DRV(function, ...) driver_note(#function, cu->function(__VA_ARGS__))

void driver_failed(const char *function, CUresult result);

static inline CUresult driver_note(const char *function, CUresult result)
{
    if (__builtin_expect(result != CUDA_SUCCESS, 0))
        driver_failed(function, result);
    return result;
}

/* Describes the calling thread's last failed call, as in "cuMemCreate:
 * CUDA_ERROR_OUT_OF_MEMORY". */
void driver_describe(char *text, size_t size);

/* Returns the status that a tenant gets for a call with this result. */
gs_status driver_status(CUresult result);

/* Returns whether the result says that the context is lost, so that every later call fails, too. */
bool driver_fatal(CUresult result);

#endif

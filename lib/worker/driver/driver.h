/*
 * driver.h - the CUDA driver, as one table of entry points filled by dlsym.
 *
 * Everything the worker wants from a device goes through `cu`: libcuda.so.1, or the software
 * device, which exports the same names. Filled once by driver_open before any thread starts;
 * read-only after.
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
#undef DRIVER_MEMBER
};

extern struct driver cu;

/* Loads the driver. kind: "cuda", "soft", or "auto": cuda where it has a device, else soft. Fills
 * name (for people: library and version). Returns false with a reason in text. */
bool driver_open(const char *kind, char name[32], char *text, size_t text_size);

/* Every call is written DRV(cuName, args...): a failure is noted with the call's name, per thread.
 */
#define DRV(function, ...) driver_note(#function, cu.function(__VA_ARGS__))

void driver_failed(const char *function, CUresult result);

static inline CUresult driver_note(const char *function, CUresult result)
{
    if (__builtin_expect(result != CUDA_SUCCESS, 0))
        driver_failed(function, result);
    return result;
}

/* "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY", of this thread's last failure. */
void driver_describe(char *text, size_t size);

/* What a tenant gets for a failed call. */
gs_status driver_status(CUresult result);

/* Has the context been lost: will every later call fail too? */
bool driver_fatal(CUresult result);

#endif

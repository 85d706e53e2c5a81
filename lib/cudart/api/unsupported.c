/*
 * unsupported.c - the names of the runtime that this library does not have: each returns
 * cudaErrorNotSupported, whatever its parameters, and names itself once to who looks.
 */
#include <stdatomic.h>

#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/base/report.h"

static cudaError_t unsupported(const char *name, atomic_flag *told)
{
    if (!atomic_flag_test_and_set(told))
        report_debug("%s is not supported", name);
    return error_record(cudaErrorNotSupported);
}

#define SUPPORTED(name)
#define UNSUPPORTED(name)                                                                          \
    CUDART_API cudaError_t name(void)                                                              \
    {                                                                                              \
        static atomic_flag told = ATOMIC_FLAG_INIT;                                                \
                                                                                                   \
        return unsupported(#name, &told);                                                          \
    }
#include "cudart/functions.def"

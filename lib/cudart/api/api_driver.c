/*
 * api_driver.c - cudaGetDriverEntryPoint and similar calls, by which a program asks the runtime for
 * a function of the driver.
 */
#include <string.h>

#include "cudart/abi.h"
#include "cudart/api/driver_functions.h"
#include "cudart/base/error.h"

/* In flags: the default is per-thread streams if the program is compiled for these. */
#define PER_THREAD_STREAMS 2u /* cudaEnablePerThreadDefaultStream */

/* The version of CUDA for which the program was written, if it does not say. */
#ifdef GS_CUDART_12
#define VERSION 12000u
#else
#define VERSION 13000u
#endif

static cudaError_t entry_point(const char *symbol, void **function, unsigned version,
                               unsigned long long flags, bool per_thread,
                               enum cudaDriverEntryPointQueryResult *result)
{
    enum cudaDriverEntryPointQueryResult found;
    driver_function there;

    if (symbol == NULL || symbol[0] == '\0' || function == NULL || flags > PER_THREAD_STREAMS)
        return error_record(cudaErrorInvalidValue);
    if (flags != 0)
        per_thread = flags == PER_THREAD_STREAMS;
    found = driver_function_find(symbol, version, per_thread, &there);
    memcpy(function, &there, sizeof(*function));
    if (result != NULL)
        *result = found;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function,
                                               unsigned long long flags,
                                               enum cudaDriverEntryPointQueryResult *result)
{
    return entry_point(symbol, function, VERSION, flags, false, result);
}

CUDART_API cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **function,
                                                    unsigned long long flags,
                                                    enum cudaDriverEntryPointQueryResult *result)
{
    return entry_point(symbol, function, VERSION, flags, true, result);
}

CUDART_API cudaError_t cudaGetDriverEntryPointByVersion(
    const char *symbol, void **function, unsigned version, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *result)
{
    return entry_point(symbol, function, version, flags, false, result);
}

CUDART_API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(
    const char *symbol, void **function, unsigned version, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *result)
{
    return entry_point(symbol, function, version, flags, true, result);
}

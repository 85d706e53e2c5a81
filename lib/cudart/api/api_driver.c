/*
 * api_driver.c - cudaGetDriverEntryPoint and its like, by which a program asks the runtime for a
 * function of the driver: none is found, since there is no driver in the process.
 */
#include "cudart/abi.h"
#include "cudart/base/error.h"

#define FLAGS_MAX 2u /* cudaEnablePerThreadDefaultStream */

static cudaError_t entry_point(const char *symbol, void **function, unsigned long long flags,
                               enum cudaDriverEntryPointQueryResult *result)
{
    if (symbol == NULL || symbol[0] == '\0' || function == NULL || flags > FLAGS_MAX)
        return error_record(cudaErrorInvalidValue);
    *function = NULL;
    if (result != NULL)
        *result = cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function,
                                               unsigned long long flags,
                                               enum cudaDriverEntryPointQueryResult *result)
{
    return entry_point(symbol, function, flags, result);
}

CUDART_API cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **function,
                                                    unsigned long long flags,
                                                    enum cudaDriverEntryPointQueryResult *result)
{
    return entry_point(symbol, function, flags, result);
}

CUDART_API cudaError_t cudaGetDriverEntryPointByVersion(
    const char *symbol, void **function, unsigned version, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *result)
{
    (void)version;
    return entry_point(symbol, function, flags, result);
}

CUDART_API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(
    const char *symbol, void **function, unsigned version, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *result)
{
    (void)version;
    return entry_point(symbol, function, flags, result);
}

/*
 * api_driver.c - the driver's functions, for who asks the runtime for them: a tenant has no driver
 * below it, so that none is found.
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

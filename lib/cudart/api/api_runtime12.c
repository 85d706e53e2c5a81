/*
 * api_runtime12.c - what only libcudart.so.12 has: the earlier forms of calls that version 13 has
 * in one form, and names that version 13 has dropped. The files beside this one define the later
 * forms.
 */
#include "cudart/abi.h"

#ifdef GS_CUDART_12

#include <stddef.h>
#include <string.h>

#include "cudart/base/error.h"

/* ---- Earlier forms --------------------------------------------------------------------------- */

#undef cudaEventElapsedTime
CUDART_API cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t start,
                                               cudaEvent_t end);

CUDART_API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    return cudaEventElapsedTime_v2(milliseconds, start, end);
}

#undef cudaGetDeviceProperties
CUDART_API cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *p, int number);
CUDART_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int number);

/* CUDA 11's structure is the beginning of 12's. */
CUDART_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int number)
{
    struct cudaDeviceProp whole;
    cudaError_t error = cudaGetDeviceProperties_v2(p != NULL ? &whole : NULL, number);

    if (error == cudaSuccess)
        memcpy(p, &whole, offsetof(struct cudaDeviceProp, hostRegisterSupported));
    return error;
}

/* ---- Names of CUDA's first versions ---------------------------------------------------------- */

CUDART_API cudaError_t cudaDeviceReset(void);
CUDART_API cudaError_t cudaDeviceSynchronize(void);
CUDART_API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
CUDART_API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
CUDART_API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config);
CUDART_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);

CUDART_API cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

CUDART_API cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

CUDART_API cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value)
{
    return cudaDeviceSetLimit(limit, value);
}

CUDART_API cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit)
{
    return cudaDeviceGetLimit(value, limit);
}

CUDART_API cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *config)
{
    return cudaDeviceGetCacheConfig(config);
}

CUDART_API cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config)
{
    return cudaDeviceSetCacheConfig(config);
}

/* Each device that gshare serves has doubles: nothing is converted. */
CUDART_API cudaError_t cudaSetDoubleForDevice(double *value)
{
    (void)value;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaSetDoubleForHost(double *value)
{
    (void)value;
    return cudaSuccess;
}

#endif

// Exported functions that the project itself does not call: other programs may.
#ifndef GS_SOFTCUDA_API_MORE_H
#define GS_SOFTCUDA_API_MORE_H

#include "softcuda/api/api.h"

#define API_MORE_FUNCTIONS(X)                                                                      \
    X(cuCtxCreate_v2, (CUcontext * context, unsigned int flags, CUdevice device))                  \
    X(cuCtxCreate_v3,                                                                              \
      (CUcontext * context, void *affinities, int count, unsigned int flags, CUdevice device))     \
    X(cuCtxCreate_v4, (CUcontext * context, void *params, unsigned int flags, CUdevice device))    \
    X(cuCtxDestroy_v2, (CUcontext context))                                                        \
    X(cuMemAllocHost_v2, (void **address, size_t size))                                            \
    X(cuMemHostGetFlags, (unsigned int *flags, void *address))                                     \
    X(cuPointerGetAttributes,                                                                      \
      (unsigned int count, CUpointer_attribute *attributes, void **values, CUdeviceptr address))   \
    X(cuMemAllocPitch_v2,                                                                          \
      (CUdeviceptr * address, size_t * pitch, size_t width, size_t height, unsigned int element))  \
    X(cuMemsetD2D8_v2,                                                                             \
      (CUdeviceptr dst, size_t pitch, unsigned char value, size_t width, size_t height))           \
    X(cuMemsetD2D32_v2,                                                                            \
      (CUdeviceptr dst, size_t pitch, unsigned int value, size_t width, size_t height))            \
    X(cuStreamGetId, (CUstream stream, unsigned long long *id))                                    \
    X(cuDeviceComputeCapability, (int *major, int *minor, CUdevice device))                        \
    X(cuMemAllocManaged, (CUdeviceptr * address, size_t size, unsigned int flags))                 \
    X(cuModuleGetLoadingMode, (int *mode))

#define API_MORE_DECLARE(name, arguments) CUAPI CUresult name arguments;
API_MORE_FUNCTIONS(API_MORE_DECLARE)
#undef API_MORE_DECLARE

#endif

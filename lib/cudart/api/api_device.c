/* api_device.c - the device: one a process, number 0, which is the session's. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/capture.h"
#include "cudart/graph/exec.h"
#include "cudart/state/arch.h"
#include "cudart/state/device.h"
#include "cudart/state/device_memory.h"
#include "cudart/state/event.h"
#include "cudart/state/managed.h"
#include "cudart/state/module.h"
#include "cudart/state/stream.h"
#include "cudart/state/texture.h"

/* ---- Which device ---------------------------------------------------------------------------- */

CUDART_API cudaError_t cudaGetDeviceCount(int *count)
{
    cudaError_t error = device_use();

    if (count == NULL)
        return error_record(cudaErrorInvalidValue);
    *count = error == cudaSuccess; /* a caller that ignores the error finds no device */
    return error_record(error);
}

CUDART_API cudaError_t cudaGetDevice(int *number)
{
    if (number == NULL)
        return error_record(cudaErrorInvalidValue);
    *number = 0;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaSetDevice(int number)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess && number != 0)
        error = cudaErrorInvalidDevice;
    return error_record(error);
}

CUDART_API cudaError_t cudaInitDevice(int number, unsigned device_flags, unsigned flags)
{
    (void)device_flags, (void)flags;
    return cudaSetDevice(number);
}

CUDART_API cudaError_t cudaSetValidDevices(int *numbers, int count)
{
    if (count < 0 || (count > 0 && numbers == NULL))
        return error_record(cudaErrorInvalidValue);
    for (int i = 0; i < count; i++) {
        if (numbers[i] != 0)
            return error_record(cudaErrorInvalidDevice);
    }
    return cudaSuccess;
}

CUDART_API cudaError_t cudaChooseDevice(int *number, const struct cudaDeviceProp *wanted)
{
    if (number == NULL || wanted == NULL)
        return error_record(cudaErrorInvalidValue);
    *number = 0;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaDeviceCanAccessPeer(int *can, int number, int peer)
{
    if (number != 0 || peer != 0)
        return error_record(cudaErrorInvalidDevice);
    if (can == NULL)
        return error_record(cudaErrorInvalidValue);
    *can = 0; /* a device is no peer of its own */
    return cudaSuccess;
}

/* ---- Waiting and ending ---------------------------------------------------------------------- */

CUDART_API cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess)
        error = capture_forbids_device();
    if (error == cudaSuccess)
        error = device_error(gs_sync(device_session()));
    mem_pools_waited();
    return error_record(error);
}

/* Everything of the session ends with it; the next call attaches anew. */
CUDART_API cudaError_t cudaDeviceReset(void)
{
    captures_forget();
    images_forget();
    streams_forget();
    events_forget();
    textures_forget();
    execs_forget();
    managed_forget();
    device_memory_forget();
    device_detach();
    error_last(true);
    return cudaSuccess;
}

/* ---- Flags and limits ------------------------------------------------------------------------ */

/* How the host waits is libgshare's own affair: it spins, yields, and sleeps. */
CUDART_API cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    unsigned schedule = flags & cudaDeviceScheduleMask;

    if (flags & ~(unsigned)cudaDeviceMask || (schedule & (schedule - 1)) != 0)
        return error_record(cudaErrorInvalidValue);
    device.flags = flags;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    if (flags == NULL)
        return error_record(cudaErrorInvalidValue);
    *flags = device.flags | cudaDeviceMapHost;
    return cudaSuccess;
}

/* The figures of CUDA's own defaults, where gshare has no such limit. */
CUDART_API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    if (value == NULL)
        return error_record(cudaErrorInvalidValue);
    switch (limit) {
    case cudaLimitStackSize:
        *value = 1024;
        return cudaSuccess;
    case cudaLimitPrintfFifoSize:
        *value = 1u << 20;
        return cudaSuccess;
    case cudaLimitMallocHeapSize:
        *value = device.kernel_heap;
        return cudaSuccess;
    default:
        return error_record(cudaErrorInvalidValue);
    }
}

/* The heap is the session's from its attach on: a larger one needs to be asked for before. What
 * kernels print has a buffer of fixed size, and the driver makes a stack as deep as a kernel needs.
 */
CUDART_API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    switch (limit) {
    case cudaLimitStackSize:
    case cudaLimitPrintfFifoSize:
        return cudaSuccess;
    case cudaLimitMallocHeapSize:
        if (device_session() != NULL && value > device.kernel_heap)
            return error_record(error_unsupported("cudaLimitMallocHeapSize of a running session"));
        if (device_session() == NULL)
            device.kernel_heap = value;
        return cudaSuccess;
    default:
        return error_record(cudaErrorInvalidValue);
    }
}

/* Hints. */
CUDART_API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    if (config == NULL)
        return error_record(cudaErrorInvalidValue);
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    (void)config;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    if (config == NULL)
        return error_record(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    (void)config;
    return cudaSuccess;
}

/* ---- What the device is ---------------------------------------------------------------------- */

static size_t smem_optin(void)
{
    return device.desc.max_dynamic_smem;
}

enum {
#define TEXTURE_LIMIT(name, number, value) LIMIT_##name = value,
#include "cudart/base/texture_limits.def"
#undef TEXTURE_LIMIT
};

static void texture_limits_fill(struct cudaDeviceProp *p)
{
    p->maxTexture1D = LIMIT_Texture1DWidth;
    p->maxTexture1DMipmap = LIMIT_Texture1DMipmappedWidth;
#ifdef GS_CUDART_12
    p->maxTexture1DLinear = LIMIT_Texture1DLinearWidth;
#endif
    p->maxTexture2D[0] = LIMIT_Texture2DWidth;
    p->maxTexture2D[1] = LIMIT_Texture2DHeight;
    p->maxTexture2DMipmap[0] = LIMIT_Texture2DMipmappedWidth;
    p->maxTexture2DMipmap[1] = LIMIT_Texture2DMipmappedHeight;
    p->maxTexture2DLinear[0] = LIMIT_Texture2DLinearWidth;
    p->maxTexture2DLinear[1] = LIMIT_Texture2DLinearHeight;
    p->maxTexture2DLinear[2] = LIMIT_Texture2DLinearPitch;
    p->maxTexture2DGather[0] = LIMIT_Texture2DGatherWidth;
    p->maxTexture2DGather[1] = LIMIT_Texture2DGatherHeight;
    p->maxTexture3D[0] = LIMIT_Texture3DWidth;
    p->maxTexture3D[1] = LIMIT_Texture3DHeight;
    p->maxTexture3D[2] = LIMIT_Texture3DDepth;
    p->maxTexture3DAlt[0] = LIMIT_Texture3DWidthAlt;
    p->maxTexture3DAlt[1] = LIMIT_Texture3DHeightAlt;
    p->maxTexture3DAlt[2] = LIMIT_Texture3DDepthAlt;
    p->maxTextureCubemap = LIMIT_TextureCubemapWidth;
    p->maxTexture1DLayered[0] = LIMIT_Texture1DLayeredWidth;
    p->maxTexture1DLayered[1] = LIMIT_Texture1DLayeredLayers;
    p->maxTexture2DLayered[0] = LIMIT_Texture2DLayeredWidth;
    p->maxTexture2DLayered[1] = LIMIT_Texture2DLayeredHeight;
    p->maxTexture2DLayered[2] = LIMIT_Texture2DLayeredLayers;
    p->maxTextureCubemapLayered[0] = LIMIT_TextureCubemapLayeredWidth;
    p->maxTextureCubemapLayered[1] = LIMIT_TextureCubemapLayeredLayers;
    p->maxSurface1D = LIMIT_Surface1DWidth;
    p->maxSurface2D[0] = LIMIT_Surface2DWidth;
    p->maxSurface2D[1] = LIMIT_Surface2DHeight;
    p->maxSurface3D[0] = LIMIT_Surface3DWidth;
    p->maxSurface3D[1] = LIMIT_Surface3DHeight;
    p->maxSurface3D[2] = LIMIT_Surface3DDepth;
    p->maxSurface1DLayered[0] = LIMIT_Surface1DLayeredWidth;
    p->maxSurface1DLayered[1] = LIMIT_Surface1DLayeredLayers;
    p->maxSurface2DLayered[0] = LIMIT_Surface2DLayeredWidth;
    p->maxSurface2DLayered[1] = LIMIT_Surface2DLayeredHeight;
    p->maxSurface2DLayered[2] = LIMIT_Surface2DLayeredLayers;
    p->maxSurfaceCubemap = LIMIT_SurfaceCubemapWidth;
    p->maxSurfaceCubemapLayered[0] = LIMIT_SurfaceCubemapLayeredWidth;
    p->maxSurfaceCubemapLayered[1] = LIMIT_SurfaceCubemapLayeredLayers;
}

/* What gshare does not know (clocks, the bus, the PCI address) is 0, and so are features that it
 * has not. */
CUDART_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int number)
{
    cudaError_t error = device_use();
    const gs_session_desc *desc = &device.desc;
    const struct arch *arch;

    if (error != cudaSuccess)
        return error_record(error);
    if (p == NULL)
        return error_record(cudaErrorInvalidValue);
    if (number != 0)
        return error_record(cudaErrorInvalidDevice);
    arch = arch_find(desc->compute_major, desc->compute_minor);
    memset(p, 0, sizeof(*p));
    snprintf(p->name, sizeof(p->name), "%s", desc->device_name);
    /* No device's identity: the same device of a server has the same one for all its tenants. */
    snprintf(p->uuid.bytes, sizeof(p->uuid.bytes), "gshare-%d", desc->device);
    p->totalGlobalMem = desc->mem_limit ? desc->mem_limit : desc->device_memory;
    p->sharedMemPerBlock = ARCH_SMEM_DEFAULT;
    p->sharedMemPerBlockOptin = smem_optin();
    p->sharedMemPerMultiprocessor = (size_t)arch->smem_sm << 10;
    p->reservedSharedMemPerBlock = arch->smem_own;
    p->regsPerBlock = ARCH_REGISTERS;
    p->regsPerMultiprocessor = ARCH_REGISTERS;
    p->warpSize = ARCH_WARP;
    p->memPitch = ARCH_PITCH_MAX;
    p->maxThreadsPerBlock = (int)desc->max_threads_per_block;
    p->maxThreadsPerMultiProcessor = (int)arch->threads;
    p->maxBlocksPerMultiProcessor = (int)arch->blocks;
    for (int i = 0; i < 3; i++) {
        p->maxThreadsDim[i] = (int)desc->max_block_dim[i];
        p->maxGridSize[i] = (int)desc->max_grid_dim[i];
    }
    p->totalConstMem = ARCH_CONSTANT;
    p->major = (int)desc->compute_major;
    p->minor = (int)desc->compute_minor;
    p->textureAlignment = ARCH_TEXTURE_ALIGN;
    p->texturePitchAlignment = ARCH_PITCH_ALIGN;
    p->surfaceAlignment = ARCH_TEXTURE_ALIGN;
    texture_limits_fill(p);
    p->multiProcessorCount = (int)device_sm_count();
    p->concurrentKernels = 1;
    p->asyncEngineCount = 1;
    p->unifiedAddressing = device.host_range_reserved;
    p->streamPrioritiesSupported = 1;
    p->globalL1CacheSupported = 1;
    p->localL1CacheSupported = 1;
    p->computePreemptionSupported = 1;
    p->cooperativeLaunch = 1;
    p->managedMemory = 1;
    p->canMapHostMemory = 1;
    p->hostRegisterSupported = 1;
    p->memoryPoolsSupported = 1;
#ifdef GS_CUDART_12
    p->deviceOverlap = 1;
#endif
    return cudaSuccess;
}

static int attribute_of(enum cudaDeviceAttr attribute)
{
    const gs_session_desc *desc = &device.desc;
    const struct arch *arch = arch_find(desc->compute_major, desc->compute_minor);

    switch ((int)attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
        return (int)desc->max_threads_per_block;
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
    case cudaDevAttrMaxBlockDimZ:
        return (int)desc->max_block_dim[attribute - cudaDevAttrMaxBlockDimX];
    case cudaDevAttrMaxGridDimX:
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
        return (int)desc->max_grid_dim[attribute - cudaDevAttrMaxGridDimX];
    case cudaDevAttrMaxSharedMemoryPerBlock:
        return ARCH_SMEM_DEFAULT;
    case cudaDevAttrTotalConstantMemory:
        return ARCH_CONSTANT;
    case cudaDevAttrWarpSize:
        return ARCH_WARP;
    case cudaDevAttrMaxPitch:
        return ARCH_PITCH_MAX;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
        return ARCH_REGISTERS;
    case cudaDevAttrTextureAlignment:
    case cudaDevAttrSurfaceAlignment:
        return ARCH_TEXTURE_ALIGN;
    case cudaDevAttrTexturePitchAlignment:
        return ARCH_PITCH_ALIGN;
    case cudaDevAttrMultiProcessorCount:
        return (int)device_sm_count();
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        return (int)arch->threads;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
        return (int)arch->blocks;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        return (int)(arch->smem_sm << 10);
    case cudaDevAttrReservedSharedMemoryPerBlock:
        return (int)arch->smem_own;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        return (int)smem_optin();
    case cudaDevAttrUnifiedAddressing:
        return device.host_range_reserved;
    case cudaDevAttrComputeCapabilityMajor:
        return (int)desc->compute_major;
    case cudaDevAttrComputeCapabilityMinor:
        return (int)desc->compute_minor;
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrHostRegisterSupported:
        return 1;
#define TEXTURE_LIMIT(name, number, value)                                                         \
    case cudaDevAttrMax##name:                                                                     \
        return value;
#include "cudart/base/texture_limits.def"
#undef TEXTURE_LIMIT
    default:
        return 0;
    }
}

CUDART_API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int number)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess && number != 0)
        error = cudaErrorInvalidDevice;
    if (error == cudaSuccess &&
        (value == NULL || (int)attribute <= 0 || (int)attribute >= (int)cudaDevAttrMax))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *value = attribute_of(attribute);
    return error_record(error);
}

/* ---- Versions -------------------------------------------------------------------------------- */

CUDART_API cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (version == NULL)
        return error_record(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* The driver is the server's; it runs what this library gives it, so it counts as new enough. */
CUDART_API cudaError_t cudaDriverGetVersion(int *version)
{
    return cudaRuntimeGetVersion(version);
}

/* A profiler sees the server, not its tenants. */
CUDART_API cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}

CUDART_API cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}

/* api_device_properties.c - the description of a device: its properties, its attributes and its
 * bus. */
#include <stdio.h>
#include <string.h>

#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/state/device.h"

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

/* The server reports figures; features depend on gshare. */
static int attribute_of(enum cudaDeviceAttr attribute)
{
    switch ((int)attribute) {
    case cudaDevAttrMultiProcessorCount:
        return (int)device_sm_count();
    case cudaDevAttrUnifiedAddressing:
        return device_here()->host_range_reserved;
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrIpcEventSupport:
        return 1;
    case cudaDevAttrMemoryPoolSupportedHandleTypes:
        return cudaMemHandleTypePosixFileDescriptor;
    case cudaDevAttrClusterLaunch:
        return device_cluster_blocks() > 1;
#define TEXTURE_LIMIT(name, number, value)                                                         \
    case cudaDevAttrMax##name:                                                                     \
        return value;
#include "cudart/base/texture_limits.def"
#undef TEXTURE_LIMIT
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    case cudaDevAttrMaxBlocksPerMultiprocessor:
    case cudaDevAttrMaxPersistingL2CacheSize:
    case cudaDevAttrMaxAccessPolicyWindowSize:
    case cudaDevAttrReservedSharedMemoryPerBlock:
    case cudaDevAttrMemSyncDomainCount:
    case cudaDevAttrNumaConfig:
    case cudaDevAttrNumaId:
    case cudaDevAttrMpsEnabled:
    case cudaDevAttrHostNumaId:
    case cudaDevAttrGpuPciDeviceId:
    case cudaDevAttrGpuPciSubsystemId:
        return device_attribute(attribute);
    default: /* numbers up to here are figures; most of the later ones are features */
        return attribute <= cudaDevAttrSingleToDoublePrecisionPerfRatio
                   ? device_attribute(attribute)
                   : 0;
    }
}

/* The bytes of "GPU-8c5f0a3e-...". */
static void uuid_fill(cudaUUID_t *uuid, const char *text)
{
    const char *at = strchr(text, '-');

    for (size_t i = 0; at != NULL && i < sizeof(uuid->bytes); i++) {
        unsigned byte;

        at += *at == '-';
        if (sscanf(at, "%2x", &byte) != 1)
            return;
        uuid->bytes[i] = (char)byte;
        at += 2;
    }
}

/* Members that are also attributes of the device. */
static void attributes_fill(struct cudaDeviceProp *p)
{
#define FILL(field, name) p->field = (__typeof__(p->field))attribute_of(cudaDevAttr##name)
    FILL(sharedMemPerBlock, MaxSharedMemoryPerBlock);
    FILL(sharedMemPerBlockOptin, MaxSharedMemoryPerBlockOptin);
    FILL(sharedMemPerMultiprocessor, MaxSharedMemoryPerMultiprocessor);
    FILL(reservedSharedMemPerBlock, ReservedSharedMemoryPerBlock);
    FILL(regsPerBlock, MaxRegistersPerBlock);
    FILL(regsPerMultiprocessor, MaxRegistersPerMultiprocessor);
    FILL(warpSize, WarpSize);
    FILL(memPitch, MaxPitch);
    FILL(maxThreadsPerBlock, MaxThreadsPerBlock);
    FILL(maxThreadsPerMultiProcessor, MaxThreadsPerMultiProcessor);
    FILL(maxBlocksPerMultiProcessor, MaxBlocksPerMultiprocessor);
    FILL(totalConstMem, TotalConstantMemory);
    FILL(major, ComputeCapabilityMajor);
    FILL(minor, ComputeCapabilityMinor);
    FILL(textureAlignment, TextureAlignment);
    FILL(texturePitchAlignment, TexturePitchAlignment);
    FILL(surfaceAlignment, SurfaceAlignment);
    FILL(multiProcessorCount, MultiProcessorCount);
    FILL(integrated, Integrated);
    FILL(canMapHostMemory, CanMapHostMemory);
    FILL(concurrentKernels, ConcurrentKernels);
    FILL(ECCEnabled, EccEnabled);
    FILL(pciBusID, PciBusId);
    FILL(pciDeviceID, PciDeviceId);
    FILL(pciDomainID, PciDomainId);
    FILL(tccDriver, TccDriver);
    FILL(asyncEngineCount, AsyncEngineCount);
    FILL(unifiedAddressing, UnifiedAddressing);
    FILL(memoryBusWidth, GlobalMemoryBusWidth);
    FILL(l2CacheSize, L2CacheSize);
    FILL(persistingL2CacheMaxSize, MaxPersistingL2CacheSize);
    FILL(accessPolicyMaxWindowSize, MaxAccessPolicyWindowSize);
    FILL(streamPrioritiesSupported, StreamPrioritiesSupported);
    FILL(globalL1CacheSupported, GlobalL1CacheSupported);
    FILL(localL1CacheSupported, LocalL1CacheSupported);
    FILL(managedMemory, ManagedMemory);
    FILL(isMultiGpuBoard, IsMultiGpuBoard);
    FILL(multiGpuBoardGroupID, MultiGpuBoardGroupID);
    FILL(hostNativeAtomicSupported, HostNativeAtomicSupported);
    FILL(computePreemptionSupported, ComputePreemptionSupported);
    FILL(cooperativeLaunch, CooperativeLaunch);
    FILL(clusterLaunch, ClusterLaunch);
    FILL(hostRegisterSupported, HostRegisterSupported);
    FILL(memoryPoolsSupported, MemoryPoolsSupported);
    p->memoryPoolSupportedHandleTypes =
        (unsigned)attribute_of(cudaDevAttrMemoryPoolSupportedHandleTypes);
    FILL(ipcEventSupported, IpcEventSupport);
#ifdef GS_CUDART_12
    FILL(clockRate, ClockRate);
    FILL(deviceOverlap, GpuOverlap);
    FILL(kernelExecTimeoutEnabled, KernelExecTimeout);
    FILL(computeMode, ComputeMode);
    FILL(memoryClockRate, MemoryClockRate);
    FILL(singleToDoublePrecisionPerfRatio, SingleToDoublePrecisionPerfRatio);
#else
    FILL(deviceNumaConfig, NumaConfig);
    FILL(deviceNumaId, NumaId);
    FILL(mpsEnabled, MpsEnabled);
    FILL(hostNumaId, HostNumaId);
    FILL(gpuPciDeviceID, GpuPciDeviceId);
    FILL(gpuPciSubsystemID, GpuPciSubsystemId);
#endif
#undef FILL
}

CUDART_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int number)
{
    cudaError_t error = device_use_number(number);
    const gs_session_desc *desc = &device_here()->desc;

    if (error == cudaSuccess && p == NULL)
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error_record(error);
    memset(p, 0, sizeof(*p));
    snprintf(p->name, sizeof(p->name), "%s", desc->device_name);
    uuid_fill(&p->uuid, desc->device_uuid);
    p->totalGlobalMem = device_memory_total();
    for (int i = 0; i < 3; i++) {
        p->maxThreadsDim[i] = (int)desc->max_block_dim[i];
        p->maxGridSize[i] = (int)desc->max_grid_dim[i];
    }
    texture_limits_fill(p);
    attributes_fill(p);
    return cudaSuccess;
}

CUDART_API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int number)
{
    cudaError_t error = device_use_number(number);

    if (error == cudaSuccess &&
        (value == NULL || (int)attribute <= 0 || (int)attribute >= (int)cudaDevAttrMax))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *value = attribute_of(attribute);
    return error_record(error);
}

/* ---- The device by its bus ------------------------------------------------------------------- */

/* The format is "0000:65:00.0". */
CUDART_API cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int number)
{
    cudaError_t error = device_use_number(number);

    if (error == cudaSuccess && (text == NULL || size <= 0))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess &&
        snprintf(text, (size_t)size, "%04x:%02x:%02x.0", attribute_of(cudaDevAttrPciDomainId),
                 attribute_of(cudaDevAttrPciBusId), attribute_of(cudaDevAttrPciDeviceId)) >= size)
        error = cudaErrorInvalidValue;
    return error_record(error);
}

/* [domain:]bus:device[.function] */
CUDART_API cudaError_t cudaDeviceGetByPCIBusId(int *number, const char *text)
{
    cudaError_t error = device_use();
    int domain = 0, bus, unit;

    if (error == cudaSuccess && (number == NULL || text == NULL))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error_record(error);
    if (sscanf(text, "%x:%x:%x", (unsigned *)&domain, (unsigned *)&bus, (unsigned *)&unit) != 3) {
        domain = 0;
        if (sscanf(text, "%x:%x", (unsigned *)&bus, (unsigned *)&unit) != 2)
            return error_record(cudaErrorInvalidValue);
    }
    for (int i = 0; i < (int)device_count(); i++) {
        error = device_use_number(i);
        if (error != cudaSuccess)
            return error_record(error);
        if (domain == attribute_of(cudaDevAttrPciDomainId) &&
            bus == attribute_of(cudaDevAttrPciBusId) &&
            unit == attribute_of(cudaDevAttrPciDeviceId)) {
            *number = i;
            return cudaSuccess;
        }
    }
    return error_record(cudaErrorInvalidDevice);
}

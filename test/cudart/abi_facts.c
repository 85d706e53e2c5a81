/*
 * abi_facts.c - sizes, offsets and values of the runtime's binary interface, as lib/cudart/abi.h
 * has them or, compiled with GS_CUDART_TOOLKIT, the toolkit's headers. test_abi.c compares both.
 */
#include "cudart/abi.h"

#include "abi_facts.h"

// clang-format off
#define V(name)         {#name, (long long)(name)},
#define S(type)         {"sizeof " #type, (long long)sizeof(type)},
#define O(type, member) {#type "." #member, (long long)offsetof(type, member)},

#if defined(GS_CUDART_TOOLKIT) && defined(GS_CUDART_12)
const struct abi_fact abi_facts_toolkit12[] = {
#elif defined(GS_CUDART_TOOLKIT)
const struct abi_fact abi_facts_toolkit[] = {
#elif defined(GS_CUDART_12)
const struct abi_fact abi_facts_own12[] = {
#else
const struct abi_fact abi_facts_own[] = {
#endif
#define ERROR(name, value, text) V(name)
#include "cudart/base/errors.def"
#undef ERROR
    S(dim3)
    S(enum cudaMemcpyKind)
    V(cudaMemcpyHostToHost) V(cudaMemcpyHostToDevice) V(cudaMemcpyDeviceToHost)
    V(cudaMemcpyDeviceToDevice) V(cudaMemcpyDefault)
    V(cudaMemoryTypeUnregistered) V(cudaMemoryTypeHost) V(cudaMemoryTypeDevice)
    V(cudaChannelFormatKindSigned) V(cudaChannelFormatKindUnsigned) V(cudaChannelFormatKindFloat)
    V(cudaChannelFormatKindNone) S(struct cudaChannelFormatDesc)
    V(cudaFuncAttributeMaxDynamicSharedMemorySize)
    V(cudaFuncAttributePreferredSharedMemoryCarveout) V(cudaFuncAttributeClusterDimMustBeSet)
    V(cudaFuncAttributeRequiredClusterWidth) V(cudaFuncAttributeRequiredClusterHeight)
    V(cudaFuncAttributeRequiredClusterDepth) V(cudaFuncAttributeNonPortableClusterSizeAllowed)
    V(cudaFuncAttributeClusterSchedulingPolicyPreference)
    V(cudaFuncCachePreferNone) V(cudaFuncCachePreferShared) V(cudaFuncCachePreferL1)
    V(cudaFuncCachePreferEqual) V(cudaSharedMemBankSizeFourByte)
    V(cudaLimitStackSize) V(cudaLimitPrintfFifoSize) V(cudaLimitMallocHeapSize)
    V(cudaDevAttrMaxThreadsPerBlock) V(cudaDevAttrMaxBlockDimX) V(cudaDevAttrMaxBlockDimZ)
    V(cudaDevAttrMaxGridDimX) V(cudaDevAttrMaxGridDimZ) V(cudaDevAttrMaxSharedMemoryPerBlock)
    V(cudaDevAttrTotalConstantMemory) V(cudaDevAttrWarpSize) V(cudaDevAttrMaxPitch)
    V(cudaDevAttrMaxRegistersPerBlock) V(cudaDevAttrTextureAlignment) V(cudaDevAttrGpuOverlap)
    V(cudaDevAttrMultiProcessorCount) V(cudaDevAttrSurfaceAlignment)
    V(cudaDevAttrConcurrentKernels) V(cudaDevAttrMaxThreadsPerMultiProcessor)
    V(cudaDevAttrAsyncEngineCount) V(cudaDevAttrUnifiedAddressing)
    V(cudaDevAttrTexturePitchAlignment) V(cudaDevAttrComputeCapabilityMajor)
    V(cudaDevAttrComputeCapabilityMinor) V(cudaDevAttrStreamPrioritiesSupported)
    V(cudaDevAttrGlobalL1CacheSupported) V(cudaDevAttrLocalL1CacheSupported)
    V(cudaDevAttrMaxSharedMemoryPerMultiprocessor) V(cudaDevAttrMaxRegistersPerMultiprocessor)
    V(cudaDevAttrComputePreemptionSupported) V(cudaDevAttrCooperativeLaunch)
    V(cudaDevAttrMaxSharedMemoryPerBlockOptin) V(cudaDevAttrMaxBlocksPerMultiprocessor)
    V(cudaDevAttrReservedSharedMemoryPerBlock) V(cudaDevAttrMax)
    S(struct cudaDeviceProp) O(struct cudaDeviceProp, totalGlobalMem)
    O(struct cudaDeviceProp, memPitch) O(struct cudaDeviceProp, maxGridSize)
    O(struct cudaDeviceProp, major) O(struct cudaDeviceProp, multiProcessorCount)
    O(struct cudaDeviceProp, maxSurfaceCubemapLayered) O(struct cudaDeviceProp, surfaceAlignment)
    O(struct cudaDeviceProp, unifiedAddressing)
    O(struct cudaDeviceProp, sharedMemPerMultiprocessor) O(struct cudaDeviceProp, cooperativeLaunch)
    O(struct cudaDeviceProp, sharedMemPerBlockOptin)
    O(struct cudaDeviceProp, maxBlocksPerMultiProcessor)
    O(struct cudaDeviceProp, reservedSharedMemPerBlock)
    O(struct cudaDeviceProp, memoryPoolSupportedHandleTypes)
#ifdef GS_CUDART_12
    O(struct cudaDeviceProp, clockRate) O(struct cudaDeviceProp, deviceOverlap)
    O(struct cudaDeviceProp, computeMode) O(struct cudaDeviceProp, memoryClockRate)
    O(struct cudaDeviceProp, singleToDoublePrecisionPerfRatio)
    O(struct cudaDeviceProp, cooperativeMultiDeviceLaunch)
#else
    O(struct cudaDeviceProp, hostNumaMultinodeIpcSupported)
    V(cudaLaunchAttributeNvlinkUtilCentricScheduling)
#endif
    S(struct cudaFuncAttributes) O(struct cudaFuncAttributes, maxThreadsPerBlock)
    O(struct cudaFuncAttributes, numRegs) O(struct cudaFuncAttributes, binaryVersion)
    O(struct cudaFuncAttributes, maxDynamicSharedSizeBytes)
    O(struct cudaFuncAttributes, preferredShmemCarveout)
    O(struct cudaFuncAttributes, nonPortableClusterSizeAllowed)
    V(cudaStreamCaptureStatusNone) V(cudaStreamCaptureStatusActive)
    V(cudaStreamCaptureModeGlobal) V(cudaStreamCaptureModeRelaxed)
    S(struct cudaExtent) S(struct cudaPos) O(struct cudaPos, z) S(struct cudaPitchedPtr)
    O(struct cudaPitchedPtr, pitch) O(struct cudaPitchedPtr, ysize) S(struct cudaMemcpy3DParms)
    O(struct cudaMemcpy3DParms, srcPtr) O(struct cudaMemcpy3DParms, dstArray)
    O(struct cudaMemcpy3DParms, dstPtr) O(struct cudaMemcpy3DParms, extent)
    O(struct cudaMemcpy3DParms, kind)
    S(struct cudaPointerAttributes) O(struct cudaPointerAttributes, device)
    O(struct cudaPointerAttributes, devicePointer) O(struct cudaPointerAttributes, hostPointer)
    V(cudaLaunchAttributeIgnore) V(cudaLaunchAttributeCooperative)
    V(cudaLaunchAttributeClusterDimension) V(cudaLaunchAttributePriority)
    V(cudaLaunchAttributeProgrammaticStreamSerialization) V(cudaLaunchAttributeMemSyncDomain)
    V(cudaLaunchAttributePreferredSharedMemoryCarveout)
    S(cudaLaunchAttributeValue) S(cudaLaunchAttribute) O(cudaLaunchAttribute, val)
    S(cudaLaunchConfig_t) O(cudaLaunchConfig_t, blockDim) O(cudaLaunchConfig_t, dynamicSmemBytes)
    O(cudaLaunchConfig_t, stream) O(cudaLaunchConfig_t, attrs) O(cudaLaunchConfig_t, numAttrs)
    V(cudaGraphNodeTypeKernel) V(cudaGraphNodeTypeMemcpy) V(cudaGraphNodeTypeMemset)
    V(cudaGraphNodeTypeHost) V(cudaGraphNodeTypeGraph) V(cudaGraphNodeTypeEmpty)
    V(cudaGraphNodeTypeWaitEvent) V(cudaGraphNodeTypeEventRecord) S(struct cudaKernelNodeParams)
    O(struct cudaKernelNodeParams, sharedMemBytes) O(struct cudaKernelNodeParams, kernelParams)
    S(struct cudaMemsetParams) O(struct cudaMemsetParams, elementSize)
    O(struct cudaMemsetParams, height) S(struct cudaHostNodeParams) S(cudaGraphEdgeData)
    S(struct cudaGraphNodeParams) O(struct cudaGraphNodeParams, kernel)
    O(struct cudaGraphNodeParams, memcpy.copyParams) O(struct cudaGraphNodeParams, reserved2)
    S(cudaGraphExecUpdateResultInfo) O(cudaGraphExecUpdateResultInfo, errorNode)
    V(cudaGraphExecUpdateErrorTopologyChanged) V(cudaGraphExecUpdateErrorNodeTypeChanged)
    S(cudaGraphInstantiateParams) O(cudaGraphInstantiateParams, result_out)
    V(cudaGraphInstantiateNodeOperationNotSupported) V(cudaGraphInstantiateFlagAutoFreeOnLaunch)
    V(cudaGraphInstantiateFlagUpload) V(cudaGraphInstantiateFlagDeviceLaunch)
    V(cudaGraphInstantiateFlagUseNodePriority) V(cudaStreamAddCaptureDependencies)
    V(cudaStreamSetCaptureDependencies) V(cudaMemLocationTypeDevice) V(cudaMemLocationTypeHost)
    V(cudaMemLocationTypeHostNumaCurrent) S(struct cudaMemLocation)
    V(cudaMemAdviseSetReadMostly) V(cudaMemAdviseUnsetAccessedBy)
    V(cudaMemRangeAttributeReadMostly) V(cudaMemRangeAttributeLastPrefetchLocation)
    V(cudaMemAttachGlobal) V(cudaMemAttachHost) V(cudaMemAttachSingle) V(cudaCpuDeviceId)
    V(cudaInvalidDeviceId) V(cudaHostRegisterPortable) V(cudaHostRegisterMapped)
    V(cudaHostRegisterIoMemory) V(cudaHostRegisterReadOnly) S(struct cudaMemPoolProps)
    O(struct cudaMemPoolProps, location) O(struct cudaMemPoolProps, reserved)
    V(cudaMemAllocationTypePinned) V(cudaMemHandleTypeNone) V(cudaMemAccessFlagsProtReadWrite)
    S(struct cudaMemAccessDesc) V(cudaMemPoolReuseFollowEventDependencies)
    V(cudaMemPoolAttrReleaseThreshold) V(cudaMemPoolAttrUsedMemHigh)
    S(struct cudaMemcpyAttributes) O(struct cudaMemcpyAttributes, flags)
    V(cudaMemcpySrcAccessOrderStream) V(cudaMemcpySrcAccessOrderAny) S(cudaIpcMemHandle_t)
    V(cudaIpcMemLazyEnablePeerAccess) V(cudaDevAttrCanMapHostMemory) V(cudaDevAttrManagedMemory)
    V(cudaDevAttrHostRegisterSupported) O(cudaLaunchAttributeValue, syncPolicy)
    V(cudaLaunchAttributeAccessPolicyWindow) V(cudaLaunchAttributeSynchronizationPolicy)
    V(cudaLaunchAttributeMemSyncDomainMap) V(cudaHostAllocPortable) V(cudaHostAllocMapped) V(cudaHostAllocWriteCombined)
    V(cudaStreamNonBlocking) V((uintptr_t)cudaStreamLegacy) V((uintptr_t)cudaStreamPerThread)
    V(cudaEventBlockingSync) V(cudaEventDisableTiming) V(cudaEventInterprocess)
    V(cudaEventRecordExternal) V(cudaEventWaitExternal) V(cudaDeviceScheduleMask)
    V(cudaDeviceMapHost) V(cudaDeviceMask) V(CUDART_VERSION)
    {NULL, 0}
};

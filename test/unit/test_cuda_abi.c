// Our declarations of the driver's binary interface against cuda.h, where that is installed.
//
// Both declare the same names, so ours are included first, inside a function: every type and
// enumerator of theirs is then local to it, and cuda.h may follow at file scope. The same list of
// facts is read off both and compared; the functions' signatures are compared at compile time.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if defined(__has_include)
#if __has_include(<cuda.h>)
#define HAVE_CUDA_H 1
#elif __has_include("/usr/local/cuda/include/cuda.h")
#define HAVE_CUDA_H 2
#endif
#endif

#ifndef HAVE_CUDA_H
int main(void)
{
    printf("SKIP: no cuda.h to compare with\n");
    return 77;
}
#else

struct fact {
    const char *name;
    long long value;
};

// clang-format off
// V: an enumerator's value; S: a type's size; O: a member's offset.
#define ABI_FACTS(V, S, O) V(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) \
    V(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) V(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) \
    V(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) V(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) \
    V(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) V(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) \
    V(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) \
    V(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY) V(CU_DEVICE_ATTRIBUTE_WARP_SIZE) \
    V(CU_DEVICE_ATTRIBUTE_MAX_PITCH) V(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK) \
    V(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) V(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) \
    V(CU_DEVICE_ATTRIBUTE_GPU_OVERLAP) V(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) \
    V(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT) V(CU_DEVICE_ATTRIBUTE_INTEGRATED) \
    V(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY) V(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) \
    V(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS) V(CU_DEVICE_ATTRIBUTE_ECC_ENABLED) \
    V(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) V(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID) \
    V(CU_DEVICE_ATTRIBUTE_TCC_DRIVER) V(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) \
    V(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) V(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE) \
    V(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) \
    V(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT) V(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING) \
    V(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID) V(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) \
    V(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) \
    V(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED) \
    V(CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED) \
    V(CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED) \
    V(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) \
    V(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR) V(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) \
    V(CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD) V(CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED) \
    V(CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO) \
    V(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) V(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) \
    V(CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED) \
    V(CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM) \
    V(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) \
    V(CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH) \
    V(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) \
    V(CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES) V(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED) \
    V(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) \
    V(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED) \
    V(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR) \
    V(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK) \
    V(CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED) \
    V(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) V(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) \
    V(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS) \
    V(CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR) \
    V(CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS) V(CU_COMPUTEMODE_DEFAULT) \
    V(CU_COMPUTEMODE_PROHIBITED) V(CU_COMPUTEMODE_EXCLUSIVE_PROCESS) V(CU_CTX_SCHED_AUTO) \
    V(CU_CTX_SCHED_SPIN) V(CU_CTX_SCHED_YIELD) V(CU_CTX_SCHED_BLOCKING_SYNC) V(CU_CTX_SCHED_MASK) \
    V(CU_CTX_MAP_HOST) V(CU_CTX_LMEM_RESIZE_TO_MAX) V(CU_CTX_FLAGS_MASK) V(CU_LIMIT_STACK_SIZE) \
    V(CU_LIMIT_PRINTF_FIFO_SIZE) V(CU_LIMIT_MALLOC_HEAP_SIZE) V(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH) \
    V(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT) V(CU_LIMIT_MAX_L2_FETCH_GRANULARITY) \
    V(CU_LIMIT_PERSISTING_L2_CACHE_SIZE) V(CU_DEV_RESOURCE_TYPE_INVALID) \
    V(CU_DEV_RESOURCE_TYPE_SM) V(CU_GREEN_CTX_DEFAULT_STREAM) \
    V(CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) \
    V(CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE) V(CU_MEM_LOCATION_TYPE_INVALID) \
    V(CU_MEM_LOCATION_TYPE_DEVICE) V(CU_MEM_LOCATION_TYPE_HOST) V(CU_MEM_ALLOCATION_TYPE_INVALID) \
    V(CU_MEM_ALLOCATION_TYPE_PINNED) V(CU_MEM_HANDLE_TYPE_NONE) \
    V(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) V(CU_MEM_ACCESS_FLAGS_PROT_NONE) \
    V(CU_MEM_ACCESS_FLAGS_PROT_READ) V(CU_MEM_ACCESS_FLAGS_PROT_READWRITE) \
    V(CU_MEM_ALLOC_GRANULARITY_MINIMUM) V(CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) \
    V(CU_MEMHOSTALLOC_PORTABLE) V(CU_MEMHOSTALLOC_DEVICEMAP) V(CU_MEMHOSTALLOC_WRITECOMBINED) \
    V(CU_MEMHOSTREGISTER_PORTABLE) V(CU_MEMHOSTREGISTER_DEVICEMAP) V(CU_MEMHOSTREGISTER_IOMEMORY) \
    V(CU_MEMHOSTREGISTER_READ_ONLY) V(CU_MEMORYTYPE_HOST) V(CU_MEMORYTYPE_DEVICE) \
    V(CU_MEMORYTYPE_ARRAY) V(CU_MEMORYTYPE_UNIFIED) V(CU_POINTER_ATTRIBUTE_CONTEXT) \
    V(CU_POINTER_ATTRIBUTE_MEMORY_TYPE) V(CU_POINTER_ATTRIBUTE_DEVICE_POINTER) \
    V(CU_POINTER_ATTRIBUTE_HOST_POINTER) V(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) \
    V(CU_POINTER_ATTRIBUTE_BUFFER_ID) V(CU_POINTER_ATTRIBUTE_IS_MANAGED) \
    V(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) V(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE) \
    V(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR) V(CU_POINTER_ATTRIBUTE_RANGE_SIZE) \
    V(CU_POINTER_ATTRIBUTE_MAPPED) V(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES) \
    V(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS) V(CU_STREAM_DEFAULT) V(CU_STREAM_NON_BLOCKING) \
    V(CU_EVENT_DEFAULT) V(CU_EVENT_BLOCKING_SYNC) V(CU_EVENT_DISABLE_TIMING) \
    V(CU_EVENT_INTERPROCESS) V(CU_EVENT_RECORD_DEFAULT) V(CU_EVENT_RECORD_EXTERNAL) \
    V(CU_EVENT_WAIT_DEFAULT) V(CU_EVENT_WAIT_EXTERNAL) V(CU_STREAM_WAIT_VALUE_GEQ) \
    V(CU_STREAM_WAIT_VALUE_EQ) V(CU_STREAM_WAIT_VALUE_AND) V(CU_STREAM_WAIT_VALUE_NOR) \
    V(CU_STREAM_WAIT_VALUE_FLUSH) V(CU_STREAM_WRITE_VALUE_DEFAULT) \
    V(CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) V(CU_STREAM_MEMORY_BARRIER_TYPE_SYS) \
    V(CU_STREAM_MEMORY_BARRIER_TYPE_GPU) V(CU_STREAM_MEM_OP_WAIT_VALUE_32) \
    V(CU_STREAM_MEM_OP_WRITE_VALUE_32) V(CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES) \
    V(CU_STREAM_MEM_OP_WAIT_VALUE_64) V(CU_STREAM_MEM_OP_WRITE_VALUE_64) \
    V(CU_STREAM_MEM_OP_BARRIER) V(CU_JIT_MAX_REGISTERS) V(CU_JIT_THREADS_PER_BLOCK) \
    V(CU_JIT_WALL_TIME) V(CU_JIT_INFO_LOG_BUFFER) V(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) \
    V(CU_JIT_ERROR_LOG_BUFFER) V(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) V(CU_JIT_OPTIMIZATION_LEVEL) \
    V(CU_JIT_TARGET_FROM_CUCONTEXT) V(CU_JIT_TARGET) V(CU_JIT_FALLBACK_STRATEGY) \
    V(CU_JIT_GENERATE_DEBUG_INFO) V(CU_JIT_LOG_VERBOSE) V(CU_JIT_GENERATE_LINE_INFO) \
    V(CU_JIT_CACHE_MODE) V(CU_JIT_INPUT_CUBIN) V(CU_JIT_INPUT_PTX) V(CU_JIT_INPUT_FATBINARY) V(CU_JIT_INPUT_OBJECT) \
    V(CU_JIT_INPUT_LIBRARY) V(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) \
    V(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) V(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES) \
    V(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) V(CU_FUNC_ATTRIBUTE_NUM_REGS) \
    V(CU_FUNC_ATTRIBUTE_PTX_VERSION) V(CU_FUNC_ATTRIBUTE_BINARY_VERSION) \
    V(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA) V(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) \
    V(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) \
    V(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET) V(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH) \
    V(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT) V(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH) \
    V(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) \
    V(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE) V(CU_FUNC_CACHE_PREFER_NONE) \
    V(CU_FUNC_CACHE_PREFER_SHARED) V(CU_FUNC_CACHE_PREFER_L1) V(CU_FUNC_CACHE_PREFER_EQUAL) \
    V(CU_FUNCTION_LOADING_STATE_UNLOADED) V(CU_FUNCTION_LOADING_STATE_LOADED) \
    V(CU_OCCUPANCY_DEFAULT) V(CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) V(CU_LAUNCH_ATTRIBUTE_IGNORE) \
    V(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW) V(CU_LAUNCH_ATTRIBUTE_COOPERATIVE) \
    V(CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) V(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) \
    V(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE) \
    V(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) \
    V(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) V(CU_LAUNCH_ATTRIBUTE_PRIORITY) \
    V(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) V(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN) \
    V(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) V(CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) \
    V(CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) V(CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) \
    V(CU_GET_PROC_ADDRESS_SUCCESS) V(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) \
    V(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT) V(CU_GET_PROC_ADDRESS_DEFAULT) \
    V(CU_GET_PROC_ADDRESS_LEGACY_STREAM) V(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) \
    S(CUdevice) S(CUdeviceptr) S(CUmemGenericAllocationHandle) S(CUcontext) S(CUgreenCtx) \
    S(CUstream) S(CUevent) S(CUmodule) S(CUfunction) S(CUkernel) S(CUarray) S(CUlinkState) S(CUjitInputType) S(CUgraph) \
    S(CUgraphNode) S(CUgraphExec) S(CUdevResourceDesc) S(CUhostFn) S(CUoccupancyB2DSize) \
    S(CUresult) S(CUdevice_attribute) S(CUcomputemode) S(CUctx_flags) S(CUlimit) S(CUdevResourceType) S(CUmemLocationType) \
    S(CUmemAllocationType) S(CUmemAllocationHandleType) S(CUmemAccess_flags) \
    S(CUmemAllocationGranularity_flags) S(CUmemorytype) S(CUpointer_attribute) \
    S(CUstreamBatchMemOpType) S(CUjit_option) S(CUfunction_attribute) S(CUfunc_cache) \
    S(CUfunctionLoadingState) S(CUlaunchAttributeID) S(CUdriverProcAddressQueryResult) S(CUuuid) \
    S(CUdevSmResource) S(CUdevResource) S(CUmemLocation) S(CUmemAllocationProp) S(CUmemAccessDesc) \
    S(CUDA_MEMCPY3D) S(CUDA_MEMSET_NODE_PARAMS) S(CUstreamBatchMemOpParams) \
    S(CUDA_BATCH_MEM_OP_NODE_PARAMS) S(CUlaunchAttributeValue) S(CUlaunchAttribute) \
    S(CUlaunchConfig) S(CUDA_KERNEL_NODE_PARAMS) S(CUgraphEdgeData) O(CUuuid, bytes) \
    O(CUdevSmResource, smCount) O(CUdevSmResource, minSmPartitionSize) O(CUdevSmResource, \
    smCoscheduledAlignment) O(CUdevResource, type) O(CUdevResource, _internal_padding) \
    O(CUdevResource, sm) O(CUdevResource, _oversize) O(CUmemLocation, type) O(CUmemLocation, id) \
    O(CUmemAllocationProp, type) O(CUmemAllocationProp, requestedHandleTypes) \
    O(CUmemAllocationProp, location) O(CUmemAllocationProp, win32HandleMetaData) \
    O(CUmemAllocationProp, allocFlags.compressionType) O(CUmemAllocationProp, \
    allocFlags.gpuDirectRDMACapable) O(CUmemAllocationProp, allocFlags.usage) \
    O(CUmemAllocationProp, allocFlags.reserved) O(CUmemAccessDesc, location) O(CUmemAccessDesc, \
    flags) O(CUDA_MEMCPY3D, srcXInBytes) O(CUDA_MEMCPY3D, srcY) O(CUDA_MEMCPY3D, srcZ) \
    O(CUDA_MEMCPY3D, srcLOD) O(CUDA_MEMCPY3D, srcMemoryType) O(CUDA_MEMCPY3D, srcHost) \
    O(CUDA_MEMCPY3D, srcDevice) O(CUDA_MEMCPY3D, srcArray) O(CUDA_MEMCPY3D, reserved0) \
    O(CUDA_MEMCPY3D, srcPitch) O(CUDA_MEMCPY3D, srcHeight) O(CUDA_MEMCPY3D, dstXInBytes) \
    O(CUDA_MEMCPY3D, dstY) O(CUDA_MEMCPY3D, dstZ) O(CUDA_MEMCPY3D, dstLOD) O(CUDA_MEMCPY3D, \
    dstMemoryType) O(CUDA_MEMCPY3D, dstHost) O(CUDA_MEMCPY3D, dstDevice) O(CUDA_MEMCPY3D, \
    dstArray) O(CUDA_MEMCPY3D, reserved1) O(CUDA_MEMCPY3D, dstPitch) O(CUDA_MEMCPY3D, dstHeight) \
    O(CUDA_MEMCPY3D, WidthInBytes) O(CUDA_MEMCPY3D, Height) O(CUDA_MEMCPY3D, Depth) \
    O(CUDA_MEMSET_NODE_PARAMS, dst) O(CUDA_MEMSET_NODE_PARAMS, pitch) O(CUDA_MEMSET_NODE_PARAMS, \
    value) O(CUDA_MEMSET_NODE_PARAMS, elementSize) O(CUDA_MEMSET_NODE_PARAMS, width) \
    O(CUDA_MEMSET_NODE_PARAMS, height) O(CUstreamBatchMemOpParams, operation) \
    O(CUstreamBatchMemOpParams, waitValue.operation) O(CUstreamBatchMemOpParams, \
    waitValue.address) O(CUstreamBatchMemOpParams, waitValue.value) O(CUstreamBatchMemOpParams, \
    waitValue.value64) O(CUstreamBatchMemOpParams, waitValue.flags) O(CUstreamBatchMemOpParams, \
    waitValue.alias) O(CUstreamBatchMemOpParams, writeValue.operation) O(CUstreamBatchMemOpParams, \
    writeValue.address) O(CUstreamBatchMemOpParams, writeValue.value) O(CUstreamBatchMemOpParams, \
    writeValue.value64) O(CUstreamBatchMemOpParams, writeValue.flags) O(CUstreamBatchMemOpParams, \
    writeValue.alias) O(CUstreamBatchMemOpParams, flushRemoteWrites.operation) \
    O(CUstreamBatchMemOpParams, flushRemoteWrites.flags) O(CUstreamBatchMemOpParams, \
    memoryBarrier.operation) O(CUstreamBatchMemOpParams, memoryBarrier.flags) \
    O(CUstreamBatchMemOpParams, pad) O(CUDA_BATCH_MEM_OP_NODE_PARAMS, ctx) \
    O(CUDA_BATCH_MEM_OP_NODE_PARAMS, count) O(CUDA_BATCH_MEM_OP_NODE_PARAMS, paramArray) \
    O(CUDA_BATCH_MEM_OP_NODE_PARAMS, flags) O(CUlaunchAttributeValue, pad) \
    O(CUlaunchAttributeValue, cooperative) O(CUlaunchAttributeValue, clusterDim.x) \
    O(CUlaunchAttributeValue, clusterDim.y) O(CUlaunchAttributeValue, clusterDim.z) \
    O(CUlaunchAttributeValue, programmaticStreamSerializationAllowed) O(CUlaunchAttributeValue, \
    priority) O(CUlaunchAttribute, id) O(CUlaunchAttribute, pad) O(CUlaunchAttribute, value) \
    O(CUlaunchConfig, gridDimX) O(CUlaunchConfig, gridDimY) O(CUlaunchConfig, gridDimZ) \
    O(CUlaunchConfig, blockDimX) O(CUlaunchConfig, blockDimY) O(CUlaunchConfig, blockDimZ) \
    O(CUlaunchConfig, sharedMemBytes) O(CUlaunchConfig, hStream) O(CUlaunchConfig, attrs) \
    O(CUlaunchConfig, numAttrs) O(CUDA_KERNEL_NODE_PARAMS, func) O(CUDA_KERNEL_NODE_PARAMS, \
    gridDimX) O(CUDA_KERNEL_NODE_PARAMS, gridDimY) O(CUDA_KERNEL_NODE_PARAMS, gridDimZ) \
    O(CUDA_KERNEL_NODE_PARAMS, blockDimX) O(CUDA_KERNEL_NODE_PARAMS, blockDimY) \
    O(CUDA_KERNEL_NODE_PARAMS, blockDimZ) O(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes) \
    O(CUDA_KERNEL_NODE_PARAMS, kernelParams) O(CUDA_KERNEL_NODE_PARAMS, extra) \
    O(CUDA_KERNEL_NODE_PARAMS, kern) O(CUDA_KERNEL_NODE_PARAMS, ctx) O(CUgraphEdgeData, from_port) \
    O(CUgraphEdgeData, to_port) O(CUgraphEdgeData, type) O(CUgraphEdgeData, reserved)
// clang-format on

#define FACT_VALUE(name)               {#name, (long long)name},
#define FACT_SIZE(type)                {"sizeof " #type, sizeof(type)},
#define FACT_OFFSET(type, member)      {#type "." #member, offsetof(type, member)},
#define FACT_RESULT(name, value, text) {#name, (long long)name},
#define FACT_POINTER(name)             {#name, (long long)(intptr_t)name},
#define ALL_FACTS                                                                                  \
    CUDA_ABI_RESULTS(FACT_RESULT)                                                                  \
    ABI_FACTS(FACT_VALUE, FACT_SIZE, FACT_OFFSET)                                                  \
    FACT_POINTER(CU_STREAM_LEGACY)                                                                 \
    FACT_POINTER(CU_STREAM_PER_THREAD)                                                             \
    FACT_POINTER(CU_LAUNCH_PARAM_END)                                                              \
    FACT_POINTER(CU_LAUNCH_PARAM_BUFFER_POINTER)                                                   \
    FACT_POINTER(CU_LAUNCH_PARAM_BUFFER_SIZE)

static size_t facts_ours(struct fact *out)
{
#include "common/cuda_abi.h"
    const struct fact facts[] = {ALL_FACTS};
    memcpy(out, facts, sizeof(facts));
    return sizeof(facts) / sizeof(facts[0]);
}

#undef CU_STREAM_LEGACY
#undef CU_STREAM_PER_THREAD
#undef CU_LAUNCH_PARAM_END
#undef CU_LAUNCH_PARAM_BUFFER_POINTER
#undef CU_LAUNCH_PARAM_BUFFER_SIZE
#if HAVE_CUDA_H == 1
#include <cuda.h>
#else
#include "/usr/local/cuda/include/cuda.h"
#endif

static size_t facts_theirs(struct fact *out)
{
    const struct fact facts[] = {ALL_FACTS};
    memcpy(out, facts, sizeof(facts));
    return sizeof(facts) / sizeof(facts[0]);
}

// cuda.h maps these two names to their second version; both versions are exported.
#undef cuGraphAddDependencies
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t count);
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end);

#define SAME_SIGNATURE(name, arguments)                                                            \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), CUresult arguments),             \
                   "the signature of " #name " differs from cuda.h");
CUDA_ABI_FUNCTIONS(SAME_SIGNATURE)
#if CUDA_VERSION >= 12080
CUDA_ABI_FUNCTIONS_NEWER(SAME_SIGNATURE)
#endif

int main(void)
{
    static struct fact ours[1024], theirs[1024];
    size_t count = facts_ours(ours);
    int wrong = 0;

    if (facts_theirs(theirs) != count) {
        printf("not ok: the lists differ in length\n");
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        if (ours[i].value != theirs[i].value) {
            printf("not ok: %s is %lld here and %lld in cuda.h\n", ours[i].name, ours[i].value,
                   theirs[i].value);
            wrong++;
        }
    }
    printf("%s: %zu facts compared with cuda.h of CUDA %d, %d differ\n", wrong ? "not ok" : "ok",
           count, CUDA_VERSION, wrong);
    return wrong != 0;
}
#endif

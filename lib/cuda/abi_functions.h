// The driver functions that this project uses: X(exported name, argument list); each returns
// CUresult.
//
// Every driver from 12.4 on exports all of CUDA_ABI_FUNCTIONS. Included by abi.h.
#ifndef GS_CUDA_ABI_FUNCTIONS_H
#define GS_CUDA_ABI_FUNCTIONS_H

#define CUDA_ABI_FUNCTIONS(X)                                                                      \
    CUDA_ABI_DEVICE_FUNCTIONS(X)                                                                   \
    CUDA_ABI_CONTEXT_FUNCTIONS(X)                                                                  \
    CUDA_ABI_MEMORY_FUNCTIONS(X)                                                                   \
    CUDA_ABI_COPY_FUNCTIONS(X)                                                                     \
    CUDA_ABI_STREAM_FUNCTIONS(X)                                                                   \
    CUDA_ABI_MODULE_FUNCTIONS(X)                                                                   \
    CUDA_ABI_LAUNCH_FUNCTIONS(X)                                                                   \
    CUDA_ABI_GRAPH_FUNCTIONS(X)                                                                    \
    CUDA_ABI_TENSOR_FUNCTIONS(X)

// Only newer drivers export these, and the worker does not use them: the older function with the
// same purpose is in the list above.
#define CUDA_ABI_FUNCTIONS_NEWER(X)                                                                \
    X(cuEventElapsedTime_v2, (float *ms, CUevent start, CUevent end))

// What the worker uses if the driver has it: its table holds NULL for a call that a driver lacks,
// and the code that makes the call asks first.
#define CUDA_ABI_OPTIONAL_FUNCTIONS(X) CUDA_ABI_TEXTURE_WORKER_FUNCTIONS(X)

#define CUDA_ABI_DEVICE_FUNCTIONS(X)                                                               \
    X(cuInit, (unsigned int flags))                                                                \
    X(cuDriverGetVersion, (int *version))                                                          \
    X(cuGetErrorName, (CUresult error, const char **name))                                         \
    X(cuGetErrorString, (CUresult error, const char **text))                                       \
    X(cuGetProcAddress_v2, (const char *symbol, void **function, int version, uint64_t flags,      \
                            CUdriverProcAddressQueryResult *result))                               \
    X(cuDeviceGetCount, (int *count))                                                              \
    X(cuDeviceGet, (CUdevice * device, int ordinal))                                               \
    X(cuDeviceGetName, (char *name, int size, CUdevice device))                                    \
    X(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device))                                        \
    X(cuDeviceGetPCIBusId, (char *id, int size, CUdevice device))                                  \
    X(cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device))           \
    X(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                                      \
    X(cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer))                           \
    X(cuDeviceGetDevResource, (CUdevice device, CUdevResource * resource, CUdevResourceType type))

#define CUDA_ABI_CONTEXT_FUNCTIONS(X)                                                              \
    X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                            \
    X(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                             \
    X(cuDevicePrimaryCtxSetFlags_v2, (CUdevice device, unsigned int flags))                        \
    X(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned int *flags, int *active))             \
    X(cuDevicePrimaryCtxReset_v2, (CUdevice device))                                               \
    X(cuCtxSetCurrent, (CUcontext context))                                                        \
    X(cuCtxGetCurrent, (CUcontext * context))                                                      \
    X(cuCtxPushCurrent_v2, (CUcontext context))                                                    \
    X(cuCtxPopCurrent_v2, (CUcontext * context))                                                   \
    X(cuCtxGetDevice, (CUdevice * device))                                                         \
    X(cuCtxGetFlags, (unsigned int *flags))                                                        \
    X(cuCtxGetApiVersion, (CUcontext context, unsigned int *version))                              \
    X(cuCtxSynchronize, (void))                                                                    \
    X(cuCtxGetStreamPriorityRange, (int *least, int *greatest))                                    \
    X(cuCtxSetLimit, (CUlimit limit, size_t value))                                                \
    X(cuCtxGetLimit, (size_t * value, CUlimit limit))                                              \
    X(cuCtxGetDevResource, (CUcontext context, CUdevResource * resource, CUdevResourceType type))  \
    X(cuDevSmResourceSplitByCount,                                                                 \
      (CUdevResource * groups, unsigned int *group_count, const CUdevResource *input,              \
       CUdevResource *remaining, unsigned int flags, unsigned int min_count))                      \
    X(cuDevResourceGenerateDesc,                                                                   \
      (CUdevResourceDesc * desc, CUdevResource * resources, unsigned int count))                   \
    X(cuGreenCtxCreate,                                                                            \
      (CUgreenCtx * green, CUdevResourceDesc desc, CUdevice device, unsigned int flags))           \
    X(cuGreenCtxDestroy, (CUgreenCtx green))                                                       \
    X(cuCtxFromGreenCtx, (CUcontext * context, CUgreenCtx green))                                  \
    X(cuGreenCtxStreamCreate,                                                                      \
      (CUstream * stream, CUgreenCtx green, unsigned int flags, int priority))                     \
    X(cuGreenCtxGetDevResource,                                                                    \
      (CUgreenCtx green, CUdevResource * resource, CUdevResourceType type))

#define CUDA_ABI_MEMORY_FUNCTIONS(X)                                                               \
    X(cuMemGetInfo_v2, (size_t * free_bytes, size_t * total_bytes))                                \
    X(cuMemGetAllocationGranularity, (size_t * granularity, const CUmemAllocationProp *prop,       \
                                      CUmemAllocationGranularity_flags option))                    \
    X(cuMemAddressReserve, (CUdeviceptr * address, size_t size, size_t alignment,                  \
                            CUdeviceptr hint, unsigned long long flags))                           \
    X(cuMemAddressFree, (CUdeviceptr address, size_t size))                                        \
    X(cuMemCreate, (CUmemGenericAllocationHandle * handle, size_t size,                            \
                    const CUmemAllocationProp *prop, unsigned long long flags))                    \
    X(cuMemRelease, (CUmemGenericAllocationHandle handle))                                         \
    X(cuMemMap, (CUdeviceptr address, size_t size, size_t offset,                                  \
                 CUmemGenericAllocationHandle handle, unsigned long long flags))                   \
    X(cuMemUnmap, (CUdeviceptr address, size_t size))                                              \
    X(cuMemSetAccess,                                                                              \
      (CUdeviceptr address, size_t size, const CUmemAccessDesc *desc, size_t count))               \
    X(cuMemGetAccess,                                                                              \
      (unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address))             \
    X(cuMemExportToShareableHandle, (void *os_handle, CUmemGenericAllocationHandle handle,         \
                                     CUmemAllocationHandleType type, unsigned long long flags))    \
    X(cuMemImportFromShareableHandle,                                                              \
      (CUmemGenericAllocationHandle * handle, void *os_handle, CUmemAllocationHandleType type))    \
    X(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle * handle, void *address))         \
    X(cuMemGetAllocationPropertiesFromHandle,                                                      \
      (CUmemAllocationProp * prop, CUmemGenericAllocationHandle handle))                           \
    X(cuMemAlloc_v2, (CUdeviceptr * address, size_t size))                                         \
    X(cuMemFree_v2, (CUdeviceptr address))                                                         \
    X(cuMemGetAddressRange_v2, (CUdeviceptr * base, size_t * size, CUdeviceptr address))           \
    X(cuMemHostRegister_v2, (void *address, size_t size, unsigned int flags))                      \
    X(cuMemHostUnregister, (void *address))                                                        \
    X(cuMemHostAlloc, (void **address, size_t size, unsigned int flags))                           \
    X(cuMemFreeHost, (void *address))                                                              \
    X(cuMemHostGetDevicePointer_v2, (CUdeviceptr * device, void *host, unsigned int flags))        \
    X(cuPointerGetAttribute, (void *value, CUpointer_attribute attribute, CUdeviceptr address))

#define CUDA_ABI_COPY_FUNCTIONS(X)                                                                 \
    X(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t size))                                   \
    X(cuMemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream))             \
    X(cuMemcpyHtoD_v2, (CUdeviceptr dst, const void *src, size_t size))                            \
    X(cuMemcpyDtoH_v2, (void *dst, CUdeviceptr src, size_t size))                                  \
    X(cuMemcpyDtoD_v2, (CUdeviceptr dst, CUdeviceptr src, size_t size))                            \
    X(cuMemcpyHtoDAsync_v2, (CUdeviceptr dst, const void *src, size_t size, CUstream stream))      \
    X(cuMemcpyDtoHAsync_v2, (void *dst, CUdeviceptr src, size_t size, CUstream stream))            \
    X(cuMemcpyDtoDAsync_v2, (CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream))      \
    X(cuMemsetD8_v2, (CUdeviceptr dst, unsigned char value, size_t count))                         \
    X(cuMemsetD16_v2, (CUdeviceptr dst, unsigned short value, size_t count))                       \
    X(cuMemsetD32_v2, (CUdeviceptr dst, unsigned int value, size_t count))                         \
    X(cuMemsetD8Async, (CUdeviceptr dst, unsigned char value, size_t count, CUstream stream))      \
    X(cuMemsetD16Async, (CUdeviceptr dst, unsigned short value, size_t count, CUstream stream))    \
    X(cuMemsetD32Async, (CUdeviceptr dst, unsigned int value, size_t count, CUstream stream))

#define CUDA_ABI_STREAM_FUNCTIONS(X)                                                               \
    X(cuStreamCreate, (CUstream * stream, unsigned int flags))                                     \
    X(cuStreamCreateWithPriority, (CUstream * stream, unsigned int flags, int priority))           \
    X(cuStreamDestroy_v2, (CUstream stream))                                                       \
    X(cuStreamSynchronize, (CUstream stream))                                                      \
    X(cuStreamQuery, (CUstream stream))                                                            \
    X(cuStreamGetCtx, (CUstream stream, CUcontext * context))                                      \
    X(cuStreamGetPriority, (CUstream stream, int *priority))                                       \
    X(cuStreamGetFlags, (CUstream stream, unsigned int *flags))                                    \
    X(cuStreamGetGreenCtx, (CUstream stream, CUgreenCtx * green))                                  \
    X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags))                     \
    X(cuStreamWriteValue32_v2,                                                                     \
      (CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags))                  \
    X(cuStreamWriteValue64_v2,                                                                     \
      (CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags))                  \
    X(cuStreamWaitValue32_v2,                                                                      \
      (CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags))                  \
    X(cuStreamWaitValue64_v2,                                                                      \
      (CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags))                  \
    X(cuStreamBatchMemOp_v2,                                                                       \
      (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *params, unsigned int flags)) \
    X(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *data))                          \
    X(cuEventCreate, (CUevent * event, unsigned int flags))                                        \
    X(cuEventDestroy_v2, (CUevent event))                                                          \
    X(cuEventRecord, (CUevent event, CUstream stream))                                             \
    X(cuEventSynchronize, (CUevent event))                                                         \
    X(cuEventQuery, (CUevent event))                                                               \
    X(cuEventElapsedTime, (float *ms, CUevent start, CUevent end))

#define CUDA_ABI_MODULE_FUNCTIONS(X)                                                               \
    X(cuModuleLoad, (CUmodule * module, const char *path))                                         \
    X(cuModuleLoadData, (CUmodule * module, const void *image))                                    \
    X(cuModuleLoadDataEx, (CUmodule * module, const void *image, unsigned int option_count,        \
                           CUjit_option *options, void **values))                                  \
    X(cuModuleLoadFatBinary, (CUmodule * module, const void *fatbin))                              \
    X(cuLinkCreate_v2,                                                                             \
      (unsigned int option_count, CUjit_option *options, void **values, CUlinkState *state))       \
    X(cuLinkAddData_v2,                                                                            \
      (CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,          \
       unsigned int option_count, CUjit_option *options, void **values))                           \
    X(cuLinkComplete, (CUlinkState state, void **cubin, size_t *size))                             \
    X(cuLinkDestroy, (CUlinkState state))                                                          \
    X(cuModuleUnload, (CUmodule module))                                                           \
    X(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))             \
    X(cuModuleGetGlobal_v2,                                                                        \
      (CUdeviceptr * address, size_t * size, CUmodule module, const char *name))                   \
    X(cuModuleGetFunctionCount, (unsigned int *count, CUmodule module))                            \
    X(cuModuleEnumerateFunctions, (CUfunction * functions, unsigned int count, CUmodule module))   \
    X(cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction function))       \
    X(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value))        \
    X(cuFuncSetCacheConfig, (CUfunction function, CUfunc_cache config))                            \
    X(cuFuncGetName, (const char **name, CUfunction function))                                     \
    X(cuFuncGetParamInfo, (CUfunction function, size_t index, size_t * offset, size_t * size))     \
    X(cuFuncGetModule, (CUmodule * module, CUfunction function))                                   \
    X(cuFuncLoad, (CUfunction function))                                                           \
    X(cuFuncIsLoaded, (CUfunctionLoadingState * state, CUfunction function))                       \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                 \
      (int *blocks, CUfunction function, int block_size, size_t dynamic_shared))                   \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,                                        \
      (int *blocks, CUfunction function, int block_size, size_t dynamic_shared,                    \
       unsigned int flags))                                                                        \
    X(cuOccupancyMaxActiveClusters,                                                                \
      (int *clusters, CUfunction function, const CUlaunchConfig *config))                          \
    X(cuOccupancyMaxPotentialBlockSize,                                                            \
      (int *min_grid_size, int *block_size, CUfunction function, CUoccupancyB2DSize shared_of,     \
       size_t dynamic_shared, int block_size_limit))                                               \
    X(cuOccupancyMaxPotentialBlockSizeWithFlags,                                                   \
      (int *min_grid_size, int *block_size, CUfunction function, CUoccupancyB2DSize shared_of,     \
       size_t dynamic_shared, int block_size_limit, unsigned int flags))                           \
    X(cuOccupancyAvailableDynamicSMemPerBlock,                                                     \
      (size_t * dynamic_shared, CUfunction function, int blocks, int block_size))

#define CUDA_ABI_LAUNCH_FUNCTIONS(X)                                                               \
    X(cuLaunchKernel,                                                                              \
      (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,         \
       unsigned int block_x, unsigned int block_y, unsigned int block_z,                           \
       unsigned int dynamic_shared, CUstream stream, void **params, void **extra))                 \
    X(cuLaunchKernelEx,                                                                            \
      (const CUlaunchConfig *config, CUfunction function, void **params, void **extra))            \
    X(cuLaunchCooperativeKernel,                                                                   \
      (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,         \
       unsigned int block_x, unsigned int block_y, unsigned int block_z,                           \
       unsigned int dynamic_shared, CUstream stream, void **params))

#define CUDA_ABI_GRAPH_FUNCTIONS(X)                                                                \
    X(cuGraphCreate, (CUgraph * graph, unsigned int flags))                                        \
    X(cuGraphDestroy, (CUgraph graph))                                                             \
    X(cuGraphAddKernelNode_v2,                                                                     \
      (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,           \
       const CUDA_KERNEL_NODE_PARAMS *params))                                                     \
    X(cuGraphAddMemcpyNode, (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies,   \
                             size_t count, const CUDA_MEMCPY3D *params, CUcontext context))        \
    X(cuGraphAddMemsetNode,                                                                        \
      (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,           \
       const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context))                                  \
    X(cuGraphAddBatchMemOpNode,                                                                    \
      (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,           \
       const CUDA_BATCH_MEM_OP_NODE_PARAMS *params))                                               \
    X(cuGraphAddEmptyNode,                                                                         \
      (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count))          \
    X(cuGraphAddDependencies,                                                                      \
      (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count))               \
    X(cuGraphAddDependencies_v2, (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,   \
                                  const CUgraphEdgeData *edges, size_t count))                     \
    X(cuGraphKernelNodeSetAttribute,                                                               \
      (CUgraphNode node, CUlaunchAttributeID attribute, const CUlaunchAttributeValue *value))      \
    X(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, unsigned long long flags))  \
    X(cuGraphExecDestroy, (CUgraphExec exec))                                                      \
    X(cuGraphLaunch, (CUgraphExec exec, CUstream stream))                                          \
    X(cuGraphUpload, (CUgraphExec exec, CUstream stream))                                          \
    X(cuGraphExecKernelNodeSetParams_v2,                                                           \
      (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params))                 \
    X(cuGraphExecMemcpyNodeSetParams,                                                              \
      (CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *params, CUcontext context))        \
    X(cuGraphExecMemsetNodeSetParams, (CUgraphExec exec, CUgraphNode node,                         \
                                       const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context))  \
    X(cuGraphExecBatchMemOpNodeSetParams,                                                          \
      (CUgraphExec exec, CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params))           \
    X(cuGraphNodeSetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned int enabled))           \
    X(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode))                        \
    X(cuStreamEndCapture, (CUstream stream, CUgraph * graph))

#endif

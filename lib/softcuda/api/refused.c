// Driver calls that exist, so that programs link, and report that the device does not support them.
#include "softcuda/api/api.h"

// None uses its arguments, so none is declared with them: the ABI lets a callee ignore its
// arguments.
#define REFUSED_FUNCTIONS(X)                                                                       \
    X(cuMemcpyPeer)                                                                                \
    X(cuMemcpyPeerAsync)                                                                           \
    X(cuMemcpyBatchAsync)                                                                          \
    X(cuTexObjectGetResourceViewDesc)                                                              \
    X(cuTexRefSetArray)                                                                            \
    X(cuTexRefSetAddress_v2)                                                                       \
    X(cuTexRefCreate)                                                                              \
    X(cuTexRefDestroy)                                                                             \
    X(cuTexRefSetFormat)                                                                           \
    X(cuTexRefSetFilterMode)                                                                       \
    X(cuTexRefSetAddressMode)                                                                      \
    X(cuTexRefSetFlags)                                                                            \
    X(cuTexRefSetAddress2D_v3)                                                                     \
    X(cuSurfRefSetArray)                                                                           \
    X(cuModuleGetTexRef)                                                                           \
    X(cuModuleGetSurfRef)                                                                          \
    X(cuStreamIsCapturing)                                                                         \
    X(cuStreamGetCaptureInfo_v2)                                                                   \
    X(cuThreadExchangeStreamCaptureMode)                                                           \
    X(cuStreamAttachMemAsync)                                                                      \
    X(cuStreamAddCallback)                                                                         \
    X(cuEventRecordWithFlags)                                                                      \
    X(cuIpcGetEventHandle)                                                                         \
    X(cuIpcOpenEventHandle)                                                                        \
    X(cuIpcGetMemHandle)                                                                           \
    X(cuIpcOpenMemHandle_v2)                                                                       \
    X(cuIpcCloseMemHandle)                                                                         \
    X(cuMemPrefetchAsync)                                                                          \
    X(cuMemPrefetchAsync_v2)                                                                       \
    X(cuMemAdvise)                                                                                 \
    X(cuMemAdvise_v2)                                                                              \
    X(cuMemAllocAsync)                                                                             \
    X(cuMemFreeAsync)                                                                              \
    X(cuMemAllocFromPoolAsync)                                                                     \
    X(cuMemPoolCreate)                                                                             \
    X(cuMemPoolDestroy)                                                                            \
    X(cuDeviceGetDefaultMemPool)                                                                   \
    X(cuDeviceGetMemPool)                                                                          \
    X(cuDeviceSetMemPool)                                                                          \
    X(cuLaunchCooperativeKernelMultiDevice)                                                        \
    X(cuLibraryLoadData)                                                                           \
    X(cuLibraryLoadFromFile)                                                                       \
    X(cuLibraryUnload)                                                                             \
    X(cuLibraryGetKernel)                                                                          \
    X(cuLibraryGetModule)                                                                          \
    X(cuLibraryGetGlobal)                                                                          \
    X(cuKernelGetFunction)                                                                         \
    X(cuGraphClone)                                                                                \
    X(cuGraphAddHostNode)                                                                          \
    X(cuGraphAddChildGraphNode)                                                                    \
    X(cuGraphAddEventRecordNode)                                                                   \
    X(cuGraphAddEventWaitNode)                                                                     \
    X(cuGraphAddMemAllocNode)                                                                      \
    X(cuGraphAddMemFreeNode)                                                                       \
    X(cuGraphAddNode)                                                                              \
    X(cuGraphAddNode_v2)                                                                           \
    X(cuGraphConditionalHandleCreate)                                                              \
    X(cuGraphDestroyNode)                                                                          \
    X(cuGraphExecUpdate_v2)                                                                        \
    X(cuGraphInstantiateWithParams)                                                                \
    X(cuMulticastCreate)                                                                           \
    X(cuMulticastAddDevice)                                                                        \
    X(cuMulticastBindMem)                                                                          \
    X(cuTensorMapEncodeIm2col)                                                                     \
    X(cuOccupancyMaxPotentialClusterSize)                                                          \
    X(cuCtxEnablePeerAccess)                                                                       \
    X(cuCtxDisablePeerAccess)                                                                      \
    X(cuCtxGetExecAffinity)                                                                        \
    X(cuGreenCtxRecordEvent)                                                                       \
    X(cuGreenCtxWaitEvent)                                                                         \
    X(cuImportExternalMemory)                                                                      \
    X(cuImportExternalSemaphore)                                                                   \
    X(cuProfilerStart)                                                                             \
    X(cuProfilerStop)                                                                              \
    X(cuGetExportTable)

#define REFUSED(name)                                                                              \
    CUAPI CUresult name(void);                                                                     \
    CUresult name(void)                                                                            \
    {                                                                                              \
        return CUDA_ERROR_NOT_SUPPORTED;                                                           \
    }
REFUSED_FUNCTIONS(REFUSED)

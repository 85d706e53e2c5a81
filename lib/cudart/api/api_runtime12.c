/*
 * api_runtime12.c - functions of libcudart.so.12 alone: the earlier forms of calls of which version
 * 13 has one form, and names that version 13 has dropped. The other files define the later forms.
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

/* CUDA 11's structure is a prefix of CUDA 12's. */
CUDART_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int number)
{
    struct cudaDeviceProp whole;
    cudaError_t error = cudaGetDeviceProperties_v2(p != NULL ? &whole : NULL, number);

    if (error == cudaSuccess)
        memcpy(p, &whole, offsetof(struct cudaDeviceProp, hostRegisterSupported));
    return error;
}

/* ---- Edges without data ---------------------------------------------------------------------- */

#undef cudaGraphAddDependencies
#undef cudaGraphAddNode
#undef cudaGraphGetEdges
#undef cudaGraphNodeGetDependencies
#undef cudaGraphNodeGetDependentNodes
#undef cudaGraphRemoveDependencies
CUDART_API cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                   const cudaGraphNode_t *to,
                                                   const cudaGraphEdgeData *data, size_t count);
CUDART_API cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph,
                                                      const cudaGraphNode_t *from,
                                                      const cudaGraphNode_t *to,
                                                      const cudaGraphEdgeData *data, size_t count);
CUDART_API cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *deps,
                                           const cudaGraphEdgeData *data, size_t count,
                                           struct cudaGraphNodeParams *params);
CUDART_API cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from,
                                            cudaGraphNode_t *to, cudaGraphEdgeData *data,
                                            size_t *count);
CUDART_API cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                       cudaGraphEdgeData *data, size_t *count);
CUDART_API cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node,
                                                         cudaGraphNode_t *nodes,
                                                         cudaGraphEdgeData *data, size_t *count);

CUDART_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                const cudaGraphNode_t *to, size_t count)
{
    return cudaGraphAddDependencies_v2(graph, from, to, NULL, count);
}

CUDART_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                   const cudaGraphNode_t *to, size_t count)
{
    return cudaGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

CUDART_API cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *deps, size_t count,
                                        struct cudaGraphNodeParams *params)
{
    return cudaGraphAddNode_v2(node, graph, deps, NULL, count, params);
}

CUDART_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from,
                                         cudaGraphNode_t *to, size_t *count)
{
    return cudaGraphGetEdges_v2(graph, from, to, NULL, count);
}

CUDART_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                    size_t *count)
{
    return cudaGraphNodeGetDependencies_v2(node, nodes, NULL, count);
}

CUDART_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                      size_t *count)
{
    return cudaGraphNodeGetDependentNodes_v2(node, nodes, NULL, count);
}

/* ---- Captures -------------------------------------------------------------------------------- */

/* Three forms: status and number; also the graph and the dependencies; also the edges' data. */
#undef cudaStreamGetCaptureInfo
#undef cudaStreamGetCaptureInfo_ptsz
#undef cudaStreamUpdateCaptureDependencies
#undef cudaStreamUpdateCaptureDependencies_ptsz
#define CAPTURE_FORMS(suffix)                                                                      \
    CUDART_API cudaError_t cudaStreamGetCaptureInfo_v3##suffix(                                    \
        cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,         \
        cudaGraph_t *graph, const cudaGraphNode_t **deps, const cudaGraphEdgeData **edges,         \
        size_t *count);                                                                            \
    CUDART_API cudaError_t cudaStreamUpdateCaptureDependencies_v2##suffix(                         \
        cudaStream_t stream, cudaGraphNode_t *deps, const cudaGraphEdgeData *data, size_t count,   \
        unsigned flags);                                                                           \
    CUDART_API cudaError_t cudaStreamGetCaptureInfo##suffix(                                       \
        cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id);        \
    CUDART_API cudaError_t cudaStreamUpdateCaptureDependencies##suffix(                            \
        cudaStream_t stream, cudaGraphNode_t *deps, size_t count, unsigned flags);                 \
    CUDART_API cudaError_t cudaStreamGetCaptureInfo_v2##suffix(                                    \
        cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,         \
        cudaGraph_t *graph, const cudaGraphNode_t **deps, size_t *count)                           \
    {                                                                                              \
        return cudaStreamGetCaptureInfo_v3##suffix(stream, status, id, graph, deps, NULL, count);  \
    }                                                                                              \
    CUDART_API cudaError_t cudaStreamGetCaptureInfo##suffix(                                       \
        cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id)         \
    {                                                                                              \
        return cudaStreamGetCaptureInfo_v3##suffix(stream, status, id, NULL, NULL, NULL, NULL);    \
    }                                                                                              \
    CUDART_API cudaError_t cudaStreamUpdateCaptureDependencies##suffix(                            \
        cudaStream_t stream, cudaGraphNode_t *deps, size_t count, unsigned flags)                  \
    {                                                                                              \
        return cudaStreamUpdateCaptureDependencies_v2##suffix(stream, deps, NULL, count, flags);   \
    }
CAPTURE_FORMS()
CAPTURE_FORMS(_ptsz)

/* ---- Places of managed memory ---------------------------------------------------------------- */

/* A device, or -1 for the host. */
static struct cudaMemLocation location_of(int device)
{
    struct cudaMemLocation location = {cudaMemLocationTypeDevice, device};

    if (device == cudaCpuDeviceId)
        location = (struct cudaMemLocation){cudaMemLocationTypeHost, 0};
    return location;
}

#undef cudaMemAdvise
#undef cudaMemPrefetchAsync
#undef cudaMemPrefetchAsync_ptsz
CUDART_API cudaError_t cudaMemAdvise_v2(const void *ptr, size_t size, enum cudaMemoryAdvise advice,
                                        struct cudaMemLocation location);
CUDART_API cudaError_t cudaMemPrefetchAsync_v2(const void *ptr, size_t size,
                                               struct cudaMemLocation location, unsigned flags,
                                               cudaStream_t stream);
CUDART_API cudaError_t cudaMemPrefetchAsync_v2_ptsz(const void *ptr, size_t size,
                                                    struct cudaMemLocation location, unsigned flags,
                                                    cudaStream_t stream);

CUDART_API cudaError_t cudaMemAdvise(const void *ptr, size_t size, enum cudaMemoryAdvise advice,
                                     int device)
{
    return cudaMemAdvise_v2(ptr, size, advice, location_of(device));
}

CUDART_API cudaError_t cudaMemPrefetchAsync(const void *ptr, size_t size, int device,
                                            cudaStream_t stream)
{
    return cudaMemPrefetchAsync_v2(ptr, size, location_of(device), 0, stream);
}

CUDART_API cudaError_t cudaMemPrefetchAsync_ptsz(const void *ptr, size_t size, int device,
                                                 cudaStream_t stream)
{
    return cudaMemPrefetchAsync_v2_ptsz(ptr, size, location_of(device), 0, stream);
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

/* Each device that gshare serves supports doubles, so nothing is converted. */
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

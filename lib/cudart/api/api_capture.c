/* api_capture.c - stream capture. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/capture.h"
#include "cudart/graph/graph.h"

static cudaError_t begin(cudaStream_t handle, enum cudaStreamCaptureMode mode, cudaGraph_t graph,
                         const cudaGraphNode_t *deps, size_t count, bool per_thread)
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    if (error == cudaSuccess)
        error = capture_begin(stream, mode, graph, deps, count);
    return error_record(error);
}

CUDART_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    return begin(stream, mode, NULL, NULL, 0, false);
}

CUDART_API cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream,
                                                   enum cudaStreamCaptureMode mode)
{
    return begin(stream, mode, NULL, NULL, 0, true);
}

/* data: ports of programmatic launches; these edges are ordinary here. */
static cudaError_t begin_to_graph(cudaStream_t stream, cudaGraph_t graph,
                                  const cudaGraphNode_t *deps, size_t count,
                                  enum cudaStreamCaptureMode mode, bool per_thread)
{
    if (graph == NULL)
        return error_record(cudaErrorInvalidValue);
    return begin(stream, mode, graph, deps, count, per_thread);
}

CUDART_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                     const cudaGraphNode_t *deps,
                                                     const cudaGraphEdgeData *data, size_t count,
                                                     enum cudaStreamCaptureMode mode)
{
    (void)data;
    return begin_to_graph(stream, graph, deps, count, mode, false);
}

CUDART_API cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                                          const cudaGraphNode_t *deps,
                                                          const cudaGraphEdgeData *data,
                                                          size_t count,
                                                          enum cudaStreamCaptureMode mode)
{
    (void)data;
    return begin_to_graph(stream, graph, deps, count, mode, true);
}

static cudaError_t end(cudaStream_t handle, cudaGraph_t *graph, bool per_thread)
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    if (error == cudaSuccess)
        error = capture_end(stream, graph);
    return error_record(error);
}

CUDART_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    return end(stream, graph, false);
}

CUDART_API cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t *graph)
{
    return end(stream, graph, true);
}

/* ---- What a stream captures ------------------------------------------------------------------ */

static cudaError_t info_of(cudaStream_t handle, bool per_thread,
                           enum cudaStreamCaptureStatus *status, struct capture_info *info)
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    if (error == cudaSuccess && status == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = capture_info(stream, info);
    if (error == cudaSuccess)
        *status = info->status;
    return error_record(error);
}

CUDART_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                             enum cudaStreamCaptureStatus *status)
{
    struct capture_info info;

    return info_of(stream, false, status, &info);
}

CUDART_API cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream,
                                                  enum cudaStreamCaptureStatus *status)
{
    struct capture_info info;

    return info_of(stream, true, status, &info);
}

static cudaError_t get_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                            unsigned long long *id, cudaGraph_t *graph,
                            const cudaGraphNode_t **deps, const cudaGraphEdgeData **edges,
                            size_t *count, bool per_thread)
{
    struct capture_info info;
    cudaError_t error = info_of(stream, per_thread, status, &info);

    if (error != cudaSuccess || info.status != cudaStreamCaptureStatusActive)
        return error;
    if (id != NULL)
        *id = info.id;
    if (graph != NULL)
        *graph = info.graph;
    if (deps != NULL)
        *deps = info.deps;
    if (edges != NULL)
        *edges = NULL; /* ordinary edges */
    if (count != NULL)
        *count = info.count;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                                enum cudaStreamCaptureStatus *status,
                                                unsigned long long *id, cudaGraph_t *graph,
                                                const cudaGraphNode_t **deps,
                                                const cudaGraphEdgeData **edges, size_t *count)
{
    return get_info(stream, status, id, graph, deps, edges, count, false);
}

CUDART_API cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream,
                                                     enum cudaStreamCaptureStatus *status,
                                                     unsigned long long *id, cudaGraph_t *graph,
                                                     const cudaGraphNode_t **deps,
                                                     const cudaGraphEdgeData **edges, size_t *count)
{
    return get_info(stream, status, id, graph, deps, edges, count, true);
}

static cudaError_t update_deps(cudaStream_t handle, const cudaGraphNode_t *deps, size_t count,
                               unsigned flags, bool per_thread)
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    if (error == cudaSuccess && flags > cudaStreamSetCaptureDependencies)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = capture_set_deps(stream, deps, count, flags == cudaStreamSetCaptureDependencies);
    return error_record(error);
}

CUDART_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                           cudaGraphNode_t *deps,
                                                           const cudaGraphEdgeData *data,
                                                           size_t count, unsigned flags)
{
    (void)data;
    return update_deps(stream, deps, count, flags, false);
}

CUDART_API cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream,
                                                                cudaGraphNode_t *deps,
                                                                const cudaGraphEdgeData *data,
                                                                size_t count, unsigned flags)
{
    (void)data;
    return update_deps(stream, deps, count, flags, true);
}

CUDART_API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    return error_record(capture_mode_exchange(mode));
}

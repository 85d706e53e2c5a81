/* api_graph.c - the capture of one stream, and the launch of what was captured. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/state/graph.h"
#include "cudart/state/stream.h"

/* ---- Capture --------------------------------------------------------------------------------- */

static cudaError_t capture_begin(cudaStream_t handle, enum cudaStreamCaptureMode mode,
                                 bool per_thread)
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);
    gs_status status;

    if (error == cudaSuccess && (unsigned)mode > cudaStreamCaptureModeRelaxed)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && stream == &stream_legacy)
        error = cudaErrorStreamCaptureUnsupported;
    if (error == cudaSuccess && atomic_load(&stream->capturing))
        error = cudaErrorIllegalState;
    if (error != cudaSuccess)
        return error_record(error);
    status = gs_graph_begin(device_session(), stream->handle);
    if (status == GS_OK)
        atomic_store(&stream->capturing, true);
    return error_record(device_error(status));
}

CUDART_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    return capture_begin(stream, mode, false);
}

CUDART_API cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream,
                                                   enum cudaStreamCaptureMode mode)
{
    return capture_begin(stream, mode, true);
}

CUDART_API cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph)
{
    struct stream *stream;
    gs_graph captured;
    cudaError_t error = stream_find(handle, false, &stream);
    gs_status status;
    bool invalid;

    if (error == cudaSuccess && graph == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && !atomic_load(&stream->capturing))
        error = cudaErrorIllegalState;
    if (error != cudaSuccess)
        return error_record(error);
    *graph = NULL;
    invalid = atomic_exchange(&stream->capture_invalid, false);
    atomic_store(&stream->capturing, false);
    status = gs_graph_end(device_session(), stream->handle, &captured);
    error = status == GS_OK ? graph_new(captured, graph) : device_error(status);
    if (!invalid)
        return error_record(error);
    /* The call that could not be captured has returned why. */
    if (error == cudaSuccess)
        graph_end(*graph);
    *graph = NULL;
    return error_record(cudaErrorStreamCaptureInvalidated);
}

CUDART_API cudaError_t cudaStreamIsCapturing(cudaStream_t handle,
                                             enum cudaStreamCaptureStatus *capturing)
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, false, &stream);

    if (error == cudaSuccess && capturing == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *capturing = atomic_load(&stream->capture_invalid) ? cudaStreamCaptureStatusInvalidated
                     : atomic_load(&stream->capturing)     ? cudaStreamCaptureStatusActive
                                                           : cudaStreamCaptureStatusNone;
    return error_record(error);
}

/* ---- Launch ---------------------------------------------------------------------------------- */

CUDART_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                            unsigned long long flags)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess && exec == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && flags != 0) /* launch from the device, memory of its own */
        error = error_unsupported("a flag of cudaGraphInstantiate");
    return error_record(error == cudaSuccess ? graph_instantiate(graph, exec) : error);
}

CUDART_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                     unsigned long long flags)
{
    return cudaGraphInstantiate(exec, graph, flags);
}

static cudaError_t graph_launch(cudaGraphExec_t exec, cudaStream_t handle, bool per_thread)
{
    struct stream *stream;
    gs_graph graph;
    cudaError_t error = stream_find(handle, per_thread, &stream);
    gs_status status;

    if (error == cudaSuccess)
        error = graph_find(exec, &graph);
    if (error != cudaSuccess)
        return error_record(error);
    status = stream_enter(stream);
    if (status == GS_OK)
        status = gs_graph_launch(graph, stream->handle);
    if (status == GS_OK)
        stream_leave(stream);
    return error_record(stream_error(stream, status));
}

CUDART_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    return graph_launch(exec, stream, false);
}

CUDART_API cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream)
{
    return graph_launch(exec, stream, true);
}

/* The server has the graph since its capture. */
CUDART_API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    struct stream *found;
    gs_graph graph;
    cudaError_t error = stream_find(stream, false, &found);

    return error_record(error == cudaSuccess ? graph_find(exec, &graph) : error);
}

CUDART_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    return error_record(graph_exec_end(exec));
}

CUDART_API cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    return error_record(graph_end(graph));
}

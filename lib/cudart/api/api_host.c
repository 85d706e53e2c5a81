/*
 * api_host.c - host functions in a stream's order. libgshare's streams have none, so the caller
 * waits for the stream's earlier work and calls the function itself.
 */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/capture.h"
#include "cudart/state/stream.h"

/* The caller may call the function when this succeeds. */
static cudaError_t host_turn(struct stream *stream)
{
    cudaError_t error = capture_forbids_legacy(stream);
    gs_status status;

    if (error != cudaSuccess)
        return error;
    status = stream_enter(stream);
    if (status == GS_OK)
        status = gs_stream_sync(device_session(), stream->handle);
    return stream_error(stream, status);
}

static cudaError_t host_call(cudaStream_t handle, cudaHostFn_t call, void *data, bool per_thread)
{
    const struct cudaHostNodeParams params = {call, data};
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);
    struct op op;

    if (error == cudaSuccess)
        error = op_host(&op, &params);
    if (error != cudaSuccess)
        return error_record(error);
    if (stream_capturing(stream))
        return error_record(capture_op(stream, &op));
    error = host_turn(stream);
    if (error == cudaSuccess)
        call(data);
    return error_record(error);
}

CUDART_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t call, void *data)
{
    return host_call(stream, call, data, false);
}

CUDART_API cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t call, void *data)
{
    return host_call(stream, call, data, true);
}

/* A callback is told of the stream's error, so it is called after one too. */
static cudaError_t callback_call(cudaStream_t handle, cudaStreamCallback_t call, void *data,
                                 unsigned flags, bool per_thread)
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    if (error == cudaSuccess && (call == NULL || flags != 0))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = stream_capturing(stream) ? capture_refuse(stream) : host_turn(stream);

    if (error == cudaSuccess || error == error_sticky())
        call(handle, error, data);
    return error_record(error);
}

CUDART_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t call,
                                             void *data, unsigned flags)
{
    return callback_call(stream, call, data, flags, false);
}

CUDART_API cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t call,
                                                  void *data, unsigned flags)
{
    return callback_call(stream, call, data, flags, true);
}

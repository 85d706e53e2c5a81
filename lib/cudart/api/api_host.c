/* api_host.c - host functions in a stream's order. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/capture.h"
#include "cudart/state/host_call.h"
#include "cudart/state/stream.h"

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
    error = capture_forbids_legacy(stream);
    if (error == cudaSuccess)
        error = host_call_launch(stream, call, data);
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

static cudaError_t callback_call(cudaStream_t handle, cudaStreamCallback_t call, void *data,
                                 unsigned flags, bool per_thread)
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    if (error == cudaSuccess && (call == NULL || flags != 0))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = stream_capturing(stream) ? capture_refuse(stream) : capture_forbids_legacy(stream);
    if (error == cudaSuccess)
        error = host_call_add(stream, handle, call, data);
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

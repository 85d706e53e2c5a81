/* api_event.c - events. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/capture.h"
#include "cudart/graph/submit.h"
#include "cudart/state/device_memory.h"
#include "cudart/state/event.h"
#include "cudart/state/shared_event.h"
#include "cudart/state/stream.h"

CUDART_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    cudaError_t error = device_use();

    if (error != cudaSuccess)
        return error_record(error);
    if (event == NULL ||
        flags &
            ~(unsigned)(cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess) ||
        (flags & cudaEventInterprocess && !(flags & cudaEventDisableTiming)))
        return error_record(cudaErrorInvalidValue);
    return error_record(event_new(flags, event));
}

CUDART_API cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

CUDART_API cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    cudaError_t error = device_use();

    return error_record(error == cudaSuccess ? event_end(event) : error);
}

static cudaError_t event_record(cudaEvent_t handle, cudaStream_t stream_handle, unsigned flags,
                                bool per_thread)
{
    struct stream *stream;
    gs_event event;
    cudaError_t error = stream_find(stream_handle, per_thread, &stream);

    if (error == cudaSuccess)
        error = event_find(handle, &event);
    if (error == cudaSuccess && event_device(handle) != stream->device)
        error = cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess && flags & ~(unsigned)cudaEventRecordExternal)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && flags & cudaEventRecordExternal)
        return error_record(capture_node(stream, cudaGraphNodeTypeEventRecord, handle));
    return error_record(error == cudaSuccess ? submit_record(stream, handle) : error);
}

CUDART_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return event_record(event, stream, 0, false);
}

CUDART_API cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream)
{
    return event_record(event, stream, 0, true);
}

CUDART_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                unsigned flags)
{
    return event_record(event, stream, flags, false);
}

CUDART_API cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream,
                                                     unsigned flags)
{
    return event_record(event, stream, flags, true);
}

CUDART_API cudaError_t cudaEventSynchronize(cudaEvent_t handle)
{
    gs_event event;
    cudaError_t error = event_enter(handle, &event);

    if (error == cudaSuccess)
        error = capture_forbids_event(handle);
    if (error == cudaSuccess && event_shared(handle) != NULL)
        error = shared_event_wait(event_shared(handle));
    if (error == cudaSuccess)
        error = device_error(gs_event_sync(event));
    mem_pools_waited();
    return error_record(error);
}

CUDART_API cudaError_t cudaEventQuery(cudaEvent_t handle)
{
    gs_event event;
    cudaError_t error = event_enter(handle, &event);

    if (error == cudaSuccess)
        error = capture_forbids_event(handle);
    if (error == cudaSuccess)
        error = capture_forbids_unsafe();
    if (error == cudaSuccess && event_shared(handle) != NULL)
        error = shared_event_done(event_shared(handle)) ? cudaSuccess : cudaErrorNotReady;
    else if (error == cudaSuccess)
        error = device_error(gs_event_query(event));
    return error_record(error);
}

CUDART_API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    gs_event first, last;
    cudaError_t error = event_enter(start, &first);
    gs_status status;

    if (error == cudaSuccess)
        error = event_find(end, &last);
    if (error == cudaSuccess && event_device(start) != event_device(end))
        error = cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess && milliseconds == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && (event_flags(start) | event_flags(end)) & cudaEventDisableTiming)
        error = cudaErrorInvalidResourceHandle;
    if (error != cudaSuccess)
        return error_record(error);
    status = gs_event_elapsed(first, last, milliseconds);
    /* The event was never recorded. */
    return error_record(status == GS_ERR_INVALID_VALUE ? cudaErrorInvalidResourceHandle
                                                       : device_error(status));
}

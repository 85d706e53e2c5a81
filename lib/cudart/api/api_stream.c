/* api_stream.c - streams. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/capture.h"
#include "cudart/state/device_memory.h"
#include "cudart/state/event.h"
#include "cudart/state/shared_event.h"
#include "cudart/state/stream.h"

#define PRIORITY_LEAST    0
#define PRIORITY_GREATEST (-5) /* as on devices since Volta */

/* ---- Making and ending ----------------------------------------------------------------------- */

static cudaError_t stream_create(cudaStream_t *stream, unsigned flags, int priority)
{
    cudaError_t error = device_use();

    if (error != cudaSuccess)
        return error_record(error);
    if (stream == NULL || flags & ~(unsigned)cudaStreamNonBlocking)
        return error_record(cudaErrorInvalidValue);
    /* CUDA clamps a priority to its range. */
    priority = priority < PRIORITY_GREATEST ? PRIORITY_GREATEST
               : priority > PRIORITY_LEAST  ? PRIORITY_LEAST
                                            : priority;
    return error_record(stream_new(flags, priority, stream));
}

CUDART_API cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return stream_create(stream, 0, 0);
}

CUDART_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return stream_create(stream, flags, 0);
}

CUDART_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags,
                                                    int priority)
{
    return stream_create(stream, flags, priority);
}

CUDART_API cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, false, &stream);

    if (error == cudaSuccess && handle == cudaStreamPerThread) /* the stream ends with its thread */
        error = cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess)
        error = capture_leave(stream);
    return error_record(error == cudaSuccess ? stream_end(handle) : error);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static cudaError_t stream_ask(cudaStream_t handle, bool per_thread,
                              gs_status (*ask)(struct stream *stream))
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);
    gs_status status;

    if (error == cudaSuccess)
        error = stream_capturing(stream) ? capture_refuse(stream) : capture_forbids_legacy(stream);
    if (error != cudaSuccess)
        return error_record(error);
    status = stream_order(stream);
    if (status == GS_OK)
        status = ask(stream);
    if (status == GS_OK && ask == stream_wait)
        mem_pools_waited();
    return error_record(stream_error(stream, status));
}

CUDART_API cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return stream_ask(stream, false, stream_wait);
}

CUDART_API cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream)
{
    return stream_ask(stream, true, stream_wait);
}

CUDART_API cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return stream_ask(stream, false, stream_query);
}

CUDART_API cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream)
{
    return stream_ask(stream, true, stream_query);
}

static cudaError_t stream_wait_event(cudaStream_t handle, cudaEvent_t event_handle, unsigned flags,
                                     bool per_thread)
{
    struct stream *stream;
    gs_event event;
    cudaError_t error = stream_find(handle, per_thread, &stream);
    bool captured;

    if (error == cudaSuccess)
        error = event_find(event_handle, &event);
    if (error == cudaSuccess && flags & ~(unsigned)cudaEventWaitExternal)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && flags & cudaEventWaitExternal)
        return error_record(capture_node(stream, cudaGraphNodeTypeWaitEvent, event_handle));
    if (error == cudaSuccess)
        error = capture_wait(stream, event_handle, &captured);
    if (error != cudaSuccess || captured)
        return error_record(error);
    /* The device cannot wait for another session's work, so the host does. */
    if (event_shared(event_handle) != NULL && !shared_event_is_own(event_shared(event_handle)))
        return error_record(shared_event_wait(event_shared(event_handle)));
    return error_record(event_let_wait(event_handle, stream));
}

CUDART_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    return stream_wait_event(stream, event, flags, false);
}

CUDART_API cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event,
                                                unsigned flags)
{
    return stream_wait_event(stream, event, flags, true);
}

/* ---- What a stream is ------------------------------------------------------------------------ */

/* Defines NAME and NAME_ptsz, which set *out to an expression of `stream`. */
#define STREAM_GETTER(name, type, expression)                                                      \
    static cudaError_t name##_of(cudaStream_t handle, type *out, bool per_thread)                  \
    {                                                                                              \
        struct stream *stream;                                                                     \
        cudaError_t error = stream_find(handle, per_thread, &stream);                              \
                                                                                                   \
        if (error == cudaSuccess && out == NULL)                                                   \
            error = cudaErrorInvalidValue;                                                         \
        if (error == cudaSuccess)                                                                  \
            *out = (expression);                                                                   \
        return error_record(error);                                                                \
    }                                                                                              \
    CUDART_API cudaError_t name(cudaStream_t handle, type *out)                                    \
    {                                                                                              \
        return name##_of(handle, out, false);                                                      \
    }                                                                                              \
    CUDART_API cudaError_t name##_ptsz(cudaStream_t handle, type *out)                             \
    {                                                                                              \
        return name##_of(handle, out, true);                                                       \
    }

STREAM_GETTER(cudaStreamGetFlags, unsigned, stream->flags)
STREAM_GETTER(cudaStreamGetPriority, int, stream->priority)
STREAM_GETTER(cudaStreamGetId, unsigned long long, stream->id)
STREAM_GETTER(cudaStreamGetDevice, int, (int)stream->device)

CUDART_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess && least != NULL)
        *least = PRIORITY_LEAST;
    if (error == cudaSuccess && greatest != NULL)
        *greatest = PRIORITY_GREATEST;
    return error_record(error);
}

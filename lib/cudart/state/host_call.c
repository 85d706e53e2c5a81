/*
 * host_call.c - see host_call.h.
 *
 * While there is managed memory, the caller waits for the stream's earlier work and calls the
 * function itself. If a host function in the stream accessed such memory, the access would wait
 * until all of the session's work is done, which includes the function (managed.h).
 */
#include "cudart/state/host_call.h"

#include <stdlib.h>

#include "cudart/base/error.h"
#include "cudart/state/managed.h"

struct host_call {
    cudaHostFn_t call;
    cudaStreamCallback_t callback; /* used if call is NULL */
    cudaStream_t stream;
    unsigned device; /* the stream's */
    void *data;
};

static void host_call_run(void *argument, gs_status status)
{
    const struct host_call call = *(const struct host_call *)argument;

    free(argument);
    device_enter(call.device); /* the thread belongs to libgshare and serves all devices */
    if (call.call == NULL)
        call.callback(call.stream, device_error(status), call.data);
    else if (status == GS_OK)
        call.call(call.data);
}

static cudaError_t host_call_give(struct stream *stream, const struct host_call *given)
{
    struct host_call *call = malloc(sizeof(*call));
    gs_status status;

    if (call == NULL)
        return cudaErrorMemoryAllocation;
    *call = *given;
    call->device = stream->device;
    status = stream_enter(stream);
    if (status == GS_OK && atomic_load(managed_regions) == 0) {
        status = gs_launch_host(device_session(), stream->handle, host_call_run, call);
        if (status == GS_OK) {
            stream_leave(stream);
            return cudaSuccess;
        }
        free(call);
        return stream_error(stream, status);
    }
    if (status == GS_OK)
        status = stream_wait(stream);
    host_call_run(call, status);
    device_enter(stream->device); /* the function may have called the API */
    return stream_error(stream, status);
}

cudaError_t host_call_launch(struct stream *stream, cudaHostFn_t call, void *data)
{
    return host_call_give(stream, &(struct host_call){.call = call, .data = data});
}

/* The callback is also told that the session has ended, so it is called after that, too. */
cudaError_t host_call_add(struct stream *stream, cudaStream_t handle, cudaStreamCallback_t call,
                          void *data)
{
    const struct host_call given = {.callback = call, .stream = handle, .data = data};
    const cudaError_t error = host_call_give(stream, &given);

    if (error != cudaSuccess && error == error_sticky(device_session()))
        call(handle, error, data);
    return error;
}

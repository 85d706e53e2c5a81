/* event.c - see event.h. */
#include "cudart/state/event.h"

#include <stdlib.h>

#include "cudart/base/handles.h"
#include "cudart/base/report.h"
#include "cudart/state/device.h"
#include "cudart/state/shared_event.h"
#include "cudart/state/stream.h"

#define EVENTS_MAX 131072u /* a session has fewer, as gs_event_create reports */

static struct handle_slot slots[EVENTS_MAX];
static struct {
    gs_event event;
    unsigned device; /* its number */
    unsigned flags;
    struct shared_event *shared;
    _Atomic(struct event_nodes *) captured;
} events[EVENTS_MAX];
static struct handles handles = HANDLES_INIT(slots, EVENTS_MAX, 12);

/* Clears a slot that nobody can find any more. */
static void event_clear(int number)
{
    free(atomic_exchange(&events[number].captured, NULL));
    if (events[number].shared != NULL)
        shared_event_release(events[number].shared);
    events[number].shared = NULL;
}

cudaError_t event_new(unsigned flags, cudaEvent_t *handle)
{
    struct shared_event *shared = NULL;
    cudaError_t error;

    if (flags & cudaEventInterprocess) {
        shared = shared_event_new();
        if (shared == NULL)
            return cudaErrorMemoryAllocation;
    }
    error = event_new_shared(flags, shared, handle);
    if (error != cudaSuccess && shared != NULL)
        shared_event_release(shared);
    return error;
}

cudaError_t event_new_shared(unsigned flags, struct shared_event *shared, cudaEvent_t *handle)
{
    uint64_t value;
    gs_status status;
    int number = handles_take(&handles, &value);

    if (number < 0)
        return cudaErrorMemoryAllocation;
    status = gs_event_create(device_session(), &events[number].event);
    if (status != GS_OK) {
        handles_free(&handles, number);
        if (status == GS_ERR_LIMIT) /* cudaErrorMemoryAllocation does not say which limit */
            report_once("no more events: %s", gs_last_error_message());
        return device_error(status);
    }
    events[number].device = device_number();
    events[number].flags = flags;
    events[number].shared = shared;
    handles_open(&handles, number);
    *handle = (cudaEvent_t)(uintptr_t)value; // NOLINT: a handle is a value
    return cudaSuccess;
}

cudaError_t event_end(cudaEvent_t handle)
{
    int number = handles_close(&handles, (uint64_t)(uintptr_t)handle);
    gs_status status;

    if (number < 0)
        return cudaErrorInvalidResourceHandle;
    device_enter(events[number].device);
    status = gs_event_destroy(events[number].event);
    event_clear(number);
    handles_free(&handles, number);
    return device_error(status);
}

cudaError_t event_find(cudaEvent_t handle, gs_event *event)
{
    int number = handles_find(&handles, (uint64_t)(uintptr_t)handle);

    if (number < 0)
        return cudaErrorInvalidResourceHandle;
    *event = events[number].event;
    return cudaSuccess;
}

cudaError_t event_enter(cudaEvent_t handle, gs_event *event)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess)
        error = event_find(handle, event);
    if (error == cudaSuccess)
        device_enter(event_device(handle));
    return error;
}

cudaError_t event_let_wait(cudaEvent_t handle, struct stream *stream)
{
    gs_event event;
    cudaError_t error = event_find(handle, &event);
    gs_status status;

    if (error != cudaSuccess)
        return error;
    if (event_device(handle) != stream->device) {
        device_enter(event_device(handle));
        error = device_error(gs_event_sync(event));
        device_enter(stream->device);
        return error;
    }
    status = stream_enter(stream);
    if (status == GS_OK)
        status = gs_stream_wait_event(stream->handle, event);
    if (status == GS_OK)
        stream_leave(stream);
    return stream_error(stream, status);
}

unsigned event_flags(cudaEvent_t handle)
{
    return events[handles_slot((uint64_t)(uintptr_t)handle)].flags;
}

unsigned event_device(cudaEvent_t handle)
{
    return events[handles_slot((uint64_t)(uintptr_t)handle)].device;
}

struct shared_event *event_shared(cudaEvent_t handle)
{
    int number = handles_find(&handles, (uint64_t)(uintptr_t)handle);

    return number >= 0 ? events[number].shared : NULL;
}

cudaError_t event_capture(cudaEvent_t handle, uint64_t capture, const cudaGraphNode_t *nodes,
                          size_t count)
{
    int number = handles_find(&handles, (uint64_t)(uintptr_t)handle);
    struct event_nodes *captured;

    if (number < 0)
        return cudaErrorInvalidResourceHandle;
    captured = malloc(sizeof(*captured) + count * sizeof(captured->nodes[0]));
    if (captured == NULL)
        return cudaErrorMemoryAllocation;
    captured->capture = capture;
    captured->count = count;
    for (size_t i = 0; i < count; i++)
        captured->nodes[i] = nodes[i];
    free(atomic_exchange(&events[number].captured, captured));
    return cudaSuccess;
}

const struct event_nodes *event_captured(cudaEvent_t handle)
{
    int number = handles_find(&handles, (uint64_t)(uintptr_t)handle);

    return number >= 0 ? atomic_load_explicit(&events[number].captured, memory_order_relaxed)
                       : NULL;
}

void event_uncapture(cudaEvent_t handle)
{
    int number = handles_find(&handles, (uint64_t)(uintptr_t)handle);

    if (number >= 0)
        free(atomic_exchange(&events[number].captured, NULL));
}

void events_forget(void)
{
    for (uint32_t i = 0; i < handles.fresh; i++) {
        uint64_t handle = handles_of(&handles, (int)i);

        if (handle != 0 && events[i].device == device_number() &&
            handles_close(&handles, handle) >= 0) {
            event_clear((int)i);
            handles_free(&handles, (int)i);
        }
    }
}

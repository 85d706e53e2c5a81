/* event.c - see event.h. */
#include "cudart/state/event.h"

#include "cudart/base/handles.h"
#include "cudart/state/device.h"

#define EVENTS_MAX 8192u /* a session has fewer: gs_event_create tells */

static struct handle_slot slots[EVENTS_MAX];
static struct {
    gs_event event;
    unsigned flags;
} events[EVENTS_MAX];
static struct handles handles = HANDLES_INIT(slots, EVENTS_MAX, 12);

cudaError_t event_new(unsigned flags, cudaEvent_t *handle)
{
    uint64_t value;
    gs_status status;
    int number = handles_take(&handles, &value);

    if (number < 0)
        return cudaErrorMemoryAllocation;
    status = gs_event_create(device_session(), &events[number].event);
    if (status != GS_OK) {
        handles_free(&handles, number);
        return device_error(status);
    }
    events[number].flags = flags;
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
    status = gs_event_destroy(events[number].event);
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

unsigned event_flags(cudaEvent_t handle)
{
    return events[(uint64_t)(uintptr_t)handle >> 4 & 0xfffff].flags;
}

void events_forget(void)
{
    for (uint32_t i = 0; i < handles.fresh; i++) {
        uint64_t handle = handles_of(&handles, (int)i);

        if (handle != 0 && handles_close(&handles, handle) >= 0)
            handles_free(&handles, (int)i);
    }
}

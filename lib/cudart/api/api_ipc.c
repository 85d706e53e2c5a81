/*
 * api_ipc.c - events, and memory, that another process of the same user opens: exports and imports
 * of gs_mem_*. What cudaMalloc took from a slab is exported with all of the slab, as NVIDIA's
 * runtime does.
 */
#include <string.h>

#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/base/report.h"
#include "cudart/state/device.h"
#include "cudart/state/device_memory.h"
#include "cudart/state/event.h"
#include "cudart/state/memory_map.h"
#include "cudart/state/shared_event.h"

/* What a cudaIpcMemHandle_t holds. */
struct opening {
    gs_mem_handle handle;
    uint64_t offset, size; /* size 0: all of it */
};
_Static_assert(sizeof(struct opening) <= sizeof(cudaIpcMemHandle_t), "an opening fits");

CUDART_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *out, void *ptr)
{
    cudaError_t error = device_use();
    const int number = memory_map_device(ptr);
    struct opening opening;
    size_t offset, size;
    gs_devptr exported;
    gs_status status;

    if (error == cudaSuccess && out == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && number >= 0)
        device_enter((unsigned)number);
    if (error == cudaSuccess)
        error = device_memory_share(ptr, &exported, &offset, &size);
    if (error != cudaSuccess)
        return error_record(error);
    status = gs_mem_export(device_session(), exported, GS_EXPORT_TO_USER, &opening.handle);
    if (status != GS_OK) {
        report_once("cudaIpcGetMemHandle: %s", gs_last_error_message());
        return error_record(device_error(status));
    }
    opening.offset = offset;
    opening.size = size;
    memset(out, 0, sizeof(*out));
    memcpy(out->reserved, &opening, sizeof(opening));
    return cudaSuccess;
}

CUDART_API cudaError_t cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t from, unsigned flags)
{
    cudaError_t error = device_use();
    struct opening opening;
    gs_status status;
    gs_devptr ptr;
    void *opened;
    size_t size;

    if (error == cudaSuccess && (out == NULL || flags != cudaIpcMemLazyEnablePeerAccess))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error_record(error);
    memcpy(&opening, from.reserved, sizeof(opening));
    status = gs_mem_import(device_session(), &opening.handle, &ptr, &size);
    if (status == GS_ERR_NOT_FOUND) {
        report_once("cudaIpcOpenMemHandle: %s", gs_last_error_message());
        return error_record(cudaErrorInvalidResourceHandle);
    }
    if (status == GS_ERR_NOT_SUPPORTED) /* the device does not reach the memory's */
        return error_record(cudaErrorMapBufferObjectFailed);
    if (status != GS_OK)
        return error_record(device_error(status));
    if (opening.size == 0)
        opening.size = size;
    if (opening.offset > size || opening.size > size - opening.offset) {
        gs_free(device_session(), ptr);
        return error_record(cudaErrorInvalidResourceHandle);
    }
    opened = (void *)(uintptr_t)(ptr + opening.offset); // NOLINT: an address of the device
    if (!memory_map_add_opened(opened, opening.size, opening.offset)) {
        gs_free(device_session(), ptr);
        return error_record(cudaErrorMemoryAllocation);
    }
    *out = opened;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaIpcCloseMemHandle(void *ptr)
{
    cudaError_t error = device_use();
    struct memory_range range;

    if (error == cudaSuccess && (!memory_map_find(ptr, &range) || range.base != (uintptr_t)ptr ||
                                 !memory_is_opened(&range)))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error_record(error);
    memory_map_remove(ptr);
    device_enter(range.device);
    return error_record(device_error(gs_free(device_session(), range.base - range.offset)));
}

/* ---- Events ---------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct shared_event_name) <= sizeof(cudaIpcEventHandle_t), "a name fits");

CUDART_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *out, cudaEvent_t event)
{
    const struct shared_event *shared = event_shared(event);
    struct shared_event_name name;

    if (out == NULL)
        return error_record(cudaErrorInvalidValue);
    if (shared == NULL)
        return error_record(cudaErrorInvalidResourceHandle);
    name = shared_event_name(shared);
    memset(out, 0, sizeof(*out));
    memcpy(out->reserved, &name, sizeof(name));
    return cudaSuccess;
}

CUDART_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t from)
{
    cudaError_t error = device_use();
    struct shared_event_name name;
    struct shared_event *shared;

    if (error == cudaSuccess && event == NULL)
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error_record(error);
    memcpy(&name, from.reserved, sizeof(name));
    shared = shared_event_open(&name);
    if (shared == NULL)
        return error_record(cudaErrorInvalidResourceHandle);
    error = event_new_shared(cudaEventInterprocess | cudaEventDisableTiming, shared, event);
    if (error != cudaSuccess)
        shared_event_drop(shared);
    return error_record(error);
}

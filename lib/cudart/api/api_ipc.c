/* api_ipc.c - memory that another process of the same user opens: exports and imports of gs_mem_*.
 */
#include <string.h>

#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/base/report.h"
#include "cudart/state/device.h"
#include "cudart/state/device_memory.h"
#include "cudart/state/memory_map.h"

_Static_assert(sizeof(gs_mem_handle) <= sizeof(cudaIpcMemHandle_t), "an export's handle fits");

CUDART_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *out, void *ptr)
{
    cudaError_t error = device_use();
    gs_mem_handle handle;
    gs_status status;

    if (error == cudaSuccess && out == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = device_memory_share(ptr);
    if (error != cudaSuccess)
        return error_record(error);
    status = gs_mem_export(device_session(), (uint64_t)(uintptr_t)ptr, GS_EXPORT_TO_USER, &handle);
    if (status != GS_OK) {
        report_once("cudaIpcGetMemHandle: %s", gs_last_error_message());
        return error_record(device_error(status));
    }
    memset(out, 0, sizeof(*out));
    memcpy(out->reserved, &handle, sizeof(handle));
    return cudaSuccess;
}

CUDART_API cudaError_t cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t from, unsigned flags)
{
    cudaError_t error = device_use();
    gs_mem_handle handle;
    gs_status status;
    gs_devptr ptr;
    size_t size;

    if (error == cudaSuccess && (out == NULL || flags != cudaIpcMemLazyEnablePeerAccess))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error_record(error);
    memcpy(&handle, from.reserved, sizeof(handle));
    status = gs_mem_import(device_session(), &handle, &ptr, &size);
    if (status != GS_OK)
        return error_record(status == GS_ERR_NOT_FOUND ? cudaErrorInvalidResourceHandle
                                                       : device_error(status));
    /* NOLINTNEXTLINE: an address of the device */
    if (!memory_map_add((void *)(uintptr_t)ptr, size, MEMORY_DEVICE, MEMORY_OPENED)) {
        gs_free(device_session(), ptr);
        return error_record(cudaErrorMemoryAllocation);
    }
    *out = (void *)(uintptr_t)ptr; // NOLINT: likewise
    return cudaSuccess;
}

CUDART_API cudaError_t cudaIpcCloseMemHandle(void *ptr)
{
    cudaError_t error = device_use();
    struct memory_range range;

    if (error == cudaSuccess &&
        (!memory_map_find(ptr, &range) || range.base != (uintptr_t)ptr ||
         range.kind != MEMORY_DEVICE || range.block != NULL || range.flags != MEMORY_OPENED))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error_record(error);
    memory_map_remove(ptr);
    return error_record(device_error(gs_free(device_session(), (uint64_t)(uintptr_t)ptr)));
}

/* api_memory.c - device memory, and queries about addresses. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/capture.h"
#include "cudart/graph/graph_memory.h"
#include "cudart/state/device_memory.h"
#include "cudart/state/heaps.h"
#include "cudart/state/memory_map.h"
#include "cudart/state/module.h"
#include "cudart/state/peer_access.h"
#include "cudart/state/pinned.h"
#include "cudart/state/registered.h"

#define PITCH_ALIGN 512u /* alignment of rows, as on NVIDIA's devices */

/* Unsafe during captures: the call may wait for the session's work. */
static cudaError_t device_alloc(void **out, size_t size)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess)
        error = capture_forbids_unsafe();
    return error == cudaSuccess ? device_memory_alloc(out, size) : error;
}

CUDART_API cudaError_t cudaMalloc(void **out, size_t size)
{
    return error_record(device_alloc(out, size));
}

CUDART_API cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    size_t row = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN, size;
    cudaError_t error;

    if (pitch == NULL || row < width || __builtin_mul_overflow(row, height, &size))
        return error_record(cudaErrorInvalidValue);
    error = device_alloc(out, size);
    if (error == cudaSuccess)
        *pitch = row;
    return error_record(error);
}

CUDART_API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *memory, struct cudaExtent extent)
{
    size_t rows, pitch;
    cudaError_t error;
    void *ptr;

    if (memory == NULL || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return error_record(cudaErrorInvalidValue);
    error = cudaMallocPitch(&ptr, &pitch, extent.width, rows);
    if (error == cudaSuccess)
        *memory = (struct cudaPitchedPtr){ptr, pitch, extent.width, extent.height};
    return error;
}

static cudaError_t device_free(void *ptr)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess && ptr != NULL)
        error = capture_forbids_unsafe();
    if (error != cudaSuccess || ptr == NULL)
        return error;
    return graph_memory_free_at(ptr, &error) ? error : device_memory_free(ptr);
}

CUDART_API cudaError_t cudaFree(void *ptr)
{
    return error_record(device_free(ptr));
}

CUDART_API cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess && (free_bytes == NULL || total == NULL))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = device_error(gs_mem_info(device_session(), free_bytes, total));
    /* Memory that is kept is available for the next allocation, also for one by the server. */
    if (error == cudaSuccess)
        *free_bytes += heaps_spare();
    return error_record(error);
}

/* ---- What an address is ---------------------------------------------------------------------- */

CUDART_API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                                const void *ptr)
{
    cudaError_t error = device_use();
    struct memory_range range;
    unsigned owner;
    gs_devptr there;
    int number;

    if (error != cudaSuccess)
        return error_record(error);
    variables_note(ptr);
    number = memory_map_device(ptr);
    owner = number >= 0 ? (unsigned)number : device_current();
    if (attributes == NULL)
        return error_record(cudaErrorInvalidValue);
    *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered, .device = -2};
    if (memory_map_find(ptr, &range) && (memory_is_host(&range) || range.kind == MEMORY_MANAGED)) {
        attributes->type =
            range.kind == MEMORY_MANAGED ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
        attributes->device = (int)owner;
        attributes->hostPointer = (void *)(uintptr_t)ptr; // NOLINT: without const
        if (range.kind == MEMORY_MAPPED || range.kind == MEMORY_MANAGED)
            attributes->devicePointer = attributes->hostPointer;
        else if (range.kind == MEMORY_PINNED && pinned_reach(ptr, &there))
            attributes->devicePointer = (void *)(uintptr_t)there; // NOLINT: as above
        if (range.kind == MEMORY_REGISTERED &&
            !registered_find(ptr, &attributes->hostPointer, &attributes->devicePointer) &&
            range.flags & cudaHostRegisterMapped)
            registered_reach(range.base, range.size, ptr, &attributes->devicePointer);
    } else if (registered_find(ptr, &attributes->hostPointer, &attributes->devicePointer)) {
        attributes->type = cudaMemoryTypeHost;
        attributes->device = (int)owner;
    } else if (number >= 0) {
        attributes->type = cudaMemoryTypeDevice;
        attributes->device = (int)owner;
        if (owner == device_current() || peer_access_reaches(device_current(), owner, ptr))
            attributes->devicePointer = (void *)(uintptr_t)ptr; // NOLINT: without const
    } else {
        attributes->hostPointer = (void *)(uintptr_t)ptr; // NOLINT: without const
    }
    return cudaSuccess;
}

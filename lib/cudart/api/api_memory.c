/* api_memory.c - device memory, and what an address is. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/capture.h"
#include "cudart/state/managed.h"
#include "cudart/state/memory_map.h"
#include "cudart/state/stream.h"

#define PITCH_ALIGN 512u /* of rows, as on NVIDIA's devices */

static cudaError_t device_alloc(void **out, size_t size)
{
    cudaError_t error = device_use();
    gs_devptr ptr;
    gs_status status;

    if (error == cudaSuccess)
        error = capture_forbids_unsafe();
    if (error != cudaSuccess)
        return error;
    if (out == NULL)
        return cudaErrorInvalidValue;
    if (size == 0) {
        *out = NULL;
        return cudaSuccess;
    }
    status = gs_malloc(device_session(), size, &ptr);
    if (status != GS_OK)
        return device_error(status);
    *out = (void *)(uintptr_t)ptr; // NOLINT: an address of the device
    if (memory_map_add(*out, size, MEMORY_DEVICE, 0))
        return cudaSuccess;
    gs_free(device_session(), ptr);
    return cudaErrorMemoryAllocation;
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
    struct memory_range range;
    gs_status status;

    if (error == cudaSuccess && ptr != NULL)
        error = capture_forbids_unsafe();
    if (error != cudaSuccess || ptr == NULL)
        return error;
    /* An import or an allocation of gs_malloc is not in the map: libgshare checks the address. */
    if (memory_map_find(ptr, &range) && memory_is_host(&range))
        return cudaErrorInvalidValue;
    if (managed_has(ptr)) {
        memory_map_remove(ptr);
        return managed_free(ptr);
    }
    /* Before the address can be given out again. */
    memory_map_remove(ptr);
    status = gs_free(device_session(), (uint64_t)(uintptr_t)ptr);
    return device_error(status);
}

CUDART_API cudaError_t cudaFree(void *ptr)
{
    return error_record(device_free(ptr));
}

/* ---- Stream-ordered allocation: right, but not fast ------------------------------------------
 *
 * Memory that is there at once is there in the stream's order too, and so is memory that is given
 * up once the work of all streams is done. */

static cudaError_t alloc_async(void **out, size_t size, cudaStream_t stream_handle, bool per_thread)
{
    struct stream *stream;
    cudaError_t error = stream_find(stream_handle, per_thread, &stream);

    if (error == cudaSuccess && stream_capturing(stream))
        error = capture_refuse(stream);
    return error_record(error == cudaSuccess ? device_alloc(out, size) : error);
}

CUDART_API cudaError_t cudaMallocAsync(void **out, size_t size, cudaStream_t stream)
{
    return alloc_async(out, size, stream, false);
}

CUDART_API cudaError_t cudaMallocAsync_ptsz(void **out, size_t size, cudaStream_t stream)
{
    return alloc_async(out, size, stream, true);
}

static cudaError_t free_async(void *ptr, cudaStream_t stream_handle, bool per_thread)
{
    struct stream *stream;
    cudaError_t error = stream_find(stream_handle, per_thread, &stream);

    if (error == cudaSuccess && ptr == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && stream_capturing(stream))
        error = capture_refuse(stream);
    return error_record(error == cudaSuccess ? device_free(ptr) : error);
}

CUDART_API cudaError_t cudaFreeAsync(void *ptr, cudaStream_t stream)
{
    return free_async(ptr, stream, false);
}

CUDART_API cudaError_t cudaFreeAsync_ptsz(void *ptr, cudaStream_t stream)
{
    return free_async(ptr, stream, true);
}

CUDART_API cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess && (free_bytes == NULL || total == NULL))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = device_error(gs_mem_info(device_session(), free_bytes, total));
    return error_record(error);
}

/* ---- What an address is ---------------------------------------------------------------------- */

CUDART_API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                                const void *ptr)
{
    cudaError_t error = device_use();
    struct memory_range range;
    bool known;

    if (error != cudaSuccess)
        return error_record(error);
    if (attributes == NULL)
        return error_record(cudaErrorInvalidValue);
    *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered, .device = -2};
    known = memory_map_find(ptr, &range);
    if (known && (memory_is_host(&range) || range.kind == MEMORY_MANAGED)) {
        attributes->type =
            range.kind == MEMORY_MANAGED ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
        attributes->device = 0;
        attributes->hostPointer = (void *)(uintptr_t)ptr; // NOLINT: without const
        if (range.kind == MEMORY_MAPPED || range.kind == MEMORY_MANAGED)
            attributes->devicePointer = attributes->hostPointer;
    } else if (known || (device.host_range_reserved && device_has(ptr))) {
        attributes->type = cudaMemoryTypeDevice;
        attributes->device = 0;
        attributes->devicePointer = (void *)(uintptr_t)ptr; // NOLINT: without const
    } else {
        attributes->hostPointer = (void *)(uintptr_t)ptr; // NOLINT: without const
    }
    return cudaSuccess;
}

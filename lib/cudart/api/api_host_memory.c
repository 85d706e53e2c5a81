/* api_host_memory.c - pinned, mapped and registered memory of the host. */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/capture.h"
#include "cudart/state/managed.h"
#include "cudart/state/memory_map.h"
#include "cudart/state/pinned.h"
#include "cudart/state/registered.h"

/* Records memory that memory_make has made. */
static bool memory_note(void *ptr, size_t size, unsigned flags, enum memory_kind kind)
{
    return kind == MEMORY_PINNED ? pinned_add(ptr, size, flags)
                                 : memory_map_add(ptr, size, kind, flags);
}

/* If the server cannot provide pinned memory that kernels reach, a program that asks for mapped
 * memory gets managed memory instead. */
static cudaError_t memory_make(void **ptr, size_t size, unsigned flags, enum memory_kind *kind)
{
    cudaError_t error = device_host_error(gs_host_alloc(device_session(), size, ptr));
    gs_devptr there;

    *kind = MEMORY_PINNED;
    if (error != cudaSuccess || !(flags & cudaHostAllocMapped) ||
        gs_host_device_ptr(device_session(), *ptr, &there) == GS_OK)
        return error;
    gs_host_free(device_session(), *ptr);
    *kind = MEMORY_MAPPED;
    return managed_alloc(ptr, size);
}

static cudaError_t host_alloc(void **out, size_t size, unsigned flags)
{
    enum memory_kind kind;
    cudaError_t error = device_use();
    void *ptr;

    if (error == cudaSuccess)
        error = capture_forbids_unsafe();
    if (error != cudaSuccess)
        return error;
    if (out == NULL || flags & ~(unsigned)(cudaHostAllocPortable | cudaHostAllocMapped |
                                           cudaHostAllocWriteCombined))
        return cudaErrorInvalidValue;
    if (size == 0) {
        *out = NULL;
        return cudaSuccess;
    }
    error = memory_make(&ptr, size, flags, &kind);
    if (error != cudaSuccess)
        return error;
    if (!memory_note(ptr, size, flags, kind)) {
        if (kind == MEMORY_MAPPED)
            managed_free(ptr);
        else
            gs_host_free(device_session(), ptr);
        return cudaErrorMemoryAllocation;
    }
    *out = ptr;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaHostAlloc(void **out, size_t size, unsigned flags)
{
    return error_record(host_alloc(out, size, flags));
}

CUDART_API cudaError_t cudaMallocHost(void **out, size_t size)
{
    return error_record(host_alloc(out, size, 0));
}

CUDART_API cudaError_t cudaFreeHost(void *ptr)
{
    cudaError_t error = device_use();
    struct memory_range range;

    if (error != cudaSuccess || ptr == NULL)
        return error_record(error);
    if (!memory_map_find(ptr, &range) || !memory_is_host(&range) ||
        range.kind == MEMORY_REGISTERED || range.base != (uintptr_t)ptr)
        return error_record(cudaErrorInvalidValue);
    if (range.kind == MEMORY_PINNED)
        return error_record(pinned_free(ptr, range.device));
    memory_map_remove(ptr);
    device_enter(range.device);
    return error_record(managed_free(ptr));
}

CUDART_API cudaError_t cudaHostGetFlags(unsigned *flags, void *ptr)
{
    cudaError_t error = device_use();
    struct memory_range range;

    if (error != cudaSuccess)
        return error_record(error);
    if (flags == NULL || !memory_map_find(ptr, &range) || !memory_is_host(&range))
        return error_record(cudaErrorInvalidValue);
    *flags = range.flags;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaHostGetDevicePointer(void **out, void *ptr, unsigned flags)
{
    cudaError_t error = device_use();
    struct memory_range range;
    gs_devptr there;

    if (error == cudaSuccess &&
        (out == NULL || flags != 0 || !memory_map_find(ptr, &range) || !memory_is_host(&range)))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && range.device != device_number() && range.kind == MEMORY_MAPPED)
        error = error_unsupported("cudaHostGetDevicePointer of mapped memory of another device, "
                                  "which is managed memory for want of a place in the window");
    if (error == cudaSuccess && range.kind == MEMORY_MAPPED)
        *out = ptr;
    else if (error == cudaSuccess && range.kind == MEMORY_PINNED && pinned_reach(ptr, &there))
        *out = (void *)(uintptr_t)there; // NOLINT: an address for kernels
    else if (error == cudaSuccess && range.kind == MEMORY_REGISTERED)
        error = registered_reach(range.base, range.size, ptr, out);
    else if (error == cudaSuccess)
        error = error_unsupported("cudaHostGetDevicePointer of pinned memory that has no place in "
                                  "the window");
    return error_record(error);
}

/* ---- Registered memory: copies take it as they take any other -------------------------------- */

/* Whether the process has mapped the whole range. */
static bool is_mapped(const void *ptr, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)ptr % page;
    char *from = (char *)(uintptr_t)ptr - before; // NOLINT: without const
    unsigned char in_core[4096];
    size_t left = before + size;

    if (size > SIZE_MAX - before - page || (uintptr_t)ptr > UINTPTR_MAX - size)
        return false;
    for (size_t some; left > 0; left -= some, from += some) {
        some = left < sizeof(in_core) * page ? left : sizeof(in_core) * page;
        if (mincore(from, some, in_core) < 0)
            return false;
    }
    return true;
}

CUDART_API cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned flags)
{
    const unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                           cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    cudaError_t error = device_use();
    struct memory_range range;

    if (error == cudaSuccess && (ptr == NULL || size == 0 || flags & ~known))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess &&
        (memory_map_find(ptr, &range) || memory_map_find((const char *)ptr + size - 1, &range)))
        error = cudaErrorHostMemoryAlreadyRegistered;
    if (error == cudaSuccess && flags & (cudaHostRegisterIoMemory | cudaHostRegisterReadOnly))
        error = error_unsupported("cudaHostRegister of read-only or I/O memory");
    if (error == cudaSuccess && !is_mapped(ptr, size))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && !memory_map_add(ptr, size, MEMORY_REGISTERED, flags))
        error = cudaErrorMemoryAllocation;
    return error_record(error);
}

CUDART_API cudaError_t cudaHostUnregister(void *ptr)
{
    cudaError_t error = device_use();
    struct memory_range range;

    if (error == cudaSuccess && ptr == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && (!memory_map_find(ptr, &range) || range.kind != MEMORY_REGISTERED))
        error = cudaErrorHostMemoryNotRegistered;
    if (error == cudaSuccess && range.base != (uintptr_t)ptr)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && !registered_end(ptr))
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess)
        memory_map_remove(ptr);
    return error_record(error);
}

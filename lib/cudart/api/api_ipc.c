/*
 * api_ipc.c - events, memory and memory pools that another process of the same user opens, by
 * exports and imports of gs_mem_*. Memory in a slab is exported with the whole slab, as NVIDIA's
 * runtime does.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/base/report.h"
#include "cudart/state/device.h"
#include "cudart/state/device_memory.h"
#include "cudart/state/event.h"
#include "cudart/state/heaps.h"
#include "cudart/state/memory_map.h"
#include "cudart/state/shared_event.h"

/* The contents of a cudaIpcMemHandle_t. */
struct opening {
    gs_mem_handle handle;
    uint64_t offset, size; /* size 0: the whole allocation */
};
_Static_assert(sizeof(struct opening) <= sizeof(cudaIpcMemHandle_t), "an opening fits");

/* Exports the memory. `call` is the name of the function in a report of a failure. */
static cudaError_t opening_make(gs_devptr exported, struct opening *opening, const char *call)
{
    const gs_status status =
        gs_mem_export(device_session(), exported, GS_EXPORT_TO_USER, &opening->handle);

    if (status != GS_OK)
        report_once("%s: %s", call, gs_last_error_message());
    return device_error(status);
}

/* flags: MEMORY_OPENED or MEMORY_IMPORTED. */
static cudaError_t opening_use(struct opening opening, unsigned flags, void **out, const char *call)
{
    gs_status status;
    gs_devptr ptr;
    void *opened;
    size_t size;

    status = gs_mem_import(device_session(), &opening.handle, &ptr, &size);
    if (status == GS_ERR_NOT_FOUND) {
        report_once("%s: %s", call, gs_last_error_message());
        return cudaErrorInvalidResourceHandle;
    }
    if (status == GS_ERR_NOT_SUPPORTED) /* the device does not reach the memory's device */
        return cudaErrorMapBufferObjectFailed;
    if (status != GS_OK)
        return device_error(status);
    if (opening.size == 0)
        opening.size = size;
    if (opening.offset > size || opening.size > size - opening.offset) {
        gs_free(device_session(), ptr);
        return cudaErrorInvalidResourceHandle;
    }
    opened = (void *)(uintptr_t)(ptr + opening.offset); // NOLINT: an address of the device
    if (!memory_map_add_opened(opened, opening.size, flags, opening.offset)) {
        gs_free(device_session(), ptr);
        return cudaErrorMemoryAllocation;
    }
    *out = opened;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *out, void *ptr)
{
    cudaError_t error = device_use();
    const int number = memory_map_device(ptr);
    struct opening opening;
    size_t offset, size;
    gs_devptr exported;

    if (error == cudaSuccess && out == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && number >= 0)
        device_enter((unsigned)number);
    if (error == cudaSuccess)
        error = device_memory_share(ptr, &exported, &offset, &size);
    if (error == cudaSuccess)
        error = opening_make(exported, &opening, "cudaIpcGetMemHandle");
    if (error != cudaSuccess)
        return error_record(error);
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

    if (error == cudaSuccess && (out == NULL || flags != cudaIpcMemLazyEnablePeerAccess))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error_record(error);
    memcpy(&opening, from.reserved, sizeof(opening));
    return error_record(opening_use(opening, MEMORY_OPENED, out, "cudaIpcOpenMemHandle"));
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

/* ---- Memory pools ---------------------------------------------------------------------------- */

/* The contents of the file whose descriptor stands for a pool. Memory has handles of its own, so
 * this only distinguishes pools. */
struct pool_name {
    char kind[8];
    uint64_t shared;
};
#define POOL_KIND "gs-pool"

/* The contents of a cudaMemPoolPtrExportData. */
struct pool_opening {
    struct opening opening;
    uint64_t shared;
};
_Static_assert(sizeof(struct pool_opening) <= sizeof(struct cudaMemPoolPtrExportData),
               "an opening fits");

CUDART_API cudaError_t cudaMemPoolExportToShareableHandle(void *out, cudaMemPool_t pool,
                                                          enum cudaMemAllocationHandleType type,
                                                          unsigned flags)
{
    const unsigned number = mem_pool_find(pool);
    struct pool_name name = {POOL_KIND, number != 0 ? mem_pool_shared(number, false) : 0};
    int fd;

    if (out == NULL || flags != 0 || type != cudaMemHandleTypePosixFileDescriptor ||
        name.shared == 0)
        return error_record(cudaErrorInvalidValue);
    fd = memfd_create(POOL_KIND, MFD_CLOEXEC);
    if (fd < 0)
        return error_record(cudaErrorOperatingSystem);
    if (pwrite(fd, &name, sizeof(name), 0) != sizeof(name)) {
        close(fd);
        return error_record(cudaErrorOperatingSystem);
    }
    *(int *)out = fd;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool, void *handle,
                                                            enum cudaMemAllocationHandleType type,
                                                            unsigned flags)
{
    cudaError_t error = device_use();
    struct pool_name name;

    if (error == cudaSuccess &&
        (pool == NULL || flags != 0 || type != cudaMemHandleTypePosixFileDescriptor ||
         pread((int)(intptr_t)handle, &name, sizeof(name), 0) != sizeof(name) ||
         memcmp(name.kind, POOL_KIND, sizeof(name.kind)) != 0 || name.shared == 0))
        error = cudaErrorInvalidValue;
    return error_record(error == cudaSuccess ? mem_pool_new(pool, 0, name.shared, true) : error);
}

CUDART_API cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *out, void *ptr)
{
    cudaError_t error = device_use();
    struct pool_opening made = {.shared = 0};
    struct memory_range range;

    if (error == cudaSuccess && out != NULL && memory_map_find(ptr, &range) &&
        range.base == (uintptr_t)ptr && range.block != NULL && range.flags != HEAP_OF_MALLOC)
        made.shared = mem_pool_shared(range.flags, false);
    if (error == cudaSuccess && made.shared == 0)
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error_record(error);
    device_enter(range.device);
    error = opening_make(range.block->arena->base, &made.opening, "cudaMemPoolExportPointer");
    if (error != cudaSuccess)
        return error_record(error);
    made.opening.offset = range.base - range.block->arena->base;
    made.opening.size = range.size;
    memset(out, 0, sizeof(*out));
    memcpy(out->reserved, &made, sizeof(made));
    return cudaSuccess;
}

CUDART_API cudaError_t cudaMemPoolImportPointer(void **out, cudaMemPool_t pool,
                                                struct cudaMemPoolPtrExportData *from)
{
    const unsigned number = mem_pool_find(pool);
    cudaError_t error = device_use();
    struct pool_opening made;

    if (error == cudaSuccess && (out == NULL || from == NULL || number == 0))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error_record(error);
    memcpy(&made, from->reserved, sizeof(made));
    if (made.shared == 0 || made.shared != mem_pool_shared(number, true))
        return error_record(cudaErrorInvalidValue);
    device_enter(mem_pool_device(number));
    return error_record(
        opening_use(made.opening, MEMORY_IMPORTED, out, "cudaMemPoolImportPointer"));
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
        shared_event_release(shared);
    return error_record(error);
}

/* api_managed.c - managed memory: allocation, advice, prefetches and attributes of ranges. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/capture.h"
#include "cudart/state/managed.h"
#include "cudart/state/managed_advice.h"
#include "cudart/state/memory_map.h"
#include "cudart/state/peer_access.h"
#include "cudart/state/stream.h"

static cudaError_t managed_malloc(void **out, size_t size, unsigned flags)
{
    cudaError_t error = device_use();
    void *ptr;

    if (error == cudaSuccess)
        error = capture_forbids_unsafe();
    if (error != cudaSuccess)
        return error;
    if (out == NULL || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return cudaErrorInvalidValue;
    if (size == 0) {
        *out = NULL;
        return cudaSuccess;
    }
    error = managed_alloc(&ptr, size);
    if (error != cudaSuccess)
        return error;
    if (!memory_map_add(ptr, size, MEMORY_MANAGED, 0)) {
        managed_free(ptr);
        return cudaErrorMemoryAllocation;
    }
    *out = ptr;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaMallocManaged(void **out, size_t size, unsigned flags)
{
    return error_record(managed_malloc(out, size, flags));
}

/* Whether a range lies in one managed allocation. */
static cudaError_t range_check(const void *ptr, size_t size, struct memory_range *range)
{
    cudaError_t error = device_use();

    if (error != cudaSuccess)
        return error;
    if (size == 0 || !memory_map_find(ptr, range) || range->kind != MEMORY_MANAGED ||
        size > range->size - ((uintptr_t)ptr - range->base))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

static bool location_is_host(struct cudaMemLocation location)
{
    return location.type == cudaMemLocationTypeHost ||
           location.type == cudaMemLocationTypeHostNuma ||
           location.type == cudaMemLocationTypeHostNumaCurrent;
}

/* Advice and prefetches for a device that does not reach the memory are impossible. */
static cudaError_t location_check(struct cudaMemLocation location, const struct memory_range *range)
{
    cudaError_t error = cudaSuccess;
    bool reached = true;

    if (location_is_host(location))
        return cudaSuccess;
    if (location.type != cudaMemLocationTypeDevice)
        return cudaErrorInvalidValue;
    if (location.id < 0 || location.id >= (int)device_count())
        return cudaErrorInvalidDevice;
    if ((unsigned)location.id != range->device)
        error = peer_access_can((unsigned)location.id, range->device, &reached);
    if (error == cudaSuccess && !reached)
        error = error_unsupported("managed memory of one device on another without peer access");
    return error;
}

/* ---- Advice: checked, and kept for cudaMemRangeGetAttribute ---------------------------------- */

CUDART_API cudaError_t cudaMemAdvise(const void *ptr, size_t size, enum cudaMemoryAdvise advice,
                                     struct cudaMemLocation location)
{
    struct memory_range range;
    cudaError_t error = range_check(ptr, size, &range);

    if (error == cudaSuccess &&
        (advice == cudaMemAdviseSetPreferredLocation || advice == cudaMemAdviseSetAccessedBy ||
         advice == cudaMemAdviseUnsetAccessedBy))
        error = location_check(location, &range);
    if (error == cudaSuccess)
        error =
            managed_advise(ptr, advice, location_is_host(location) ? cudaCpuDeviceId : location.id);
    return error_record(error);
}

static enum cudaMemLocationType location_type(int where)
{
    return where == cudaInvalidDeviceId ? cudaMemLocationTypeInvalid
           : where == cudaCpuDeviceId   ? cudaMemLocationTypeHost
                                        : cudaMemLocationTypeDevice;
}

static cudaError_t attribute_of(void *data, size_t size, enum cudaMemRangeAttribute attribute,
                                const struct managed_advice *advice)
{
    int *value = data;

    if (data == NULL || size == 0 || size % sizeof(int) != 0)
        return cudaErrorInvalidValue;
    if (attribute == cudaMemRangeAttributeAccessedBy) {
        for (size_t i = 0; i < size / sizeof(int); i++)
            value[i] = i < advice->accessed_count ? advice->accessed[i] : cudaInvalidDeviceId;
        return cudaSuccess;
    }
    if (size != sizeof(int))
        return cudaErrorInvalidValue;
    switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
        *value = advice->read_mostly;
        return cudaSuccess;
    case cudaMemRangeAttributePreferredLocation:
        *value = advice->preferred;
        return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocation:
        *value = advice->prefetched;
        return cudaSuccess;
    case cudaMemRangeAttributePreferredLocationType:
        *value = (int)location_type(advice->preferred);
        return cudaSuccess;
    case cudaMemRangeAttributePreferredLocationId:
        *value = advice->preferred;
        return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocationType:
        *value = (int)location_type(advice->prefetched);
        return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocationId:
        *value = advice->prefetched;
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

CUDART_API cudaError_t cudaMemRangeGetAttribute(void *data, size_t size,
                                                enum cudaMemRangeAttribute attribute,
                                                const void *ptr, size_t count)
{
    struct managed_advice advice;
    struct memory_range range;
    cudaError_t error = range_check(ptr, count, &range);

    if (error == cudaSuccess)
        error = managed_advice_of(ptr, &advice);
    if (error == cudaSuccess)
        error = attribute_of(data, size, attribute, &advice);
    return error_record(error);
}

CUDART_API cudaError_t cudaMemRangeGetAttributes(void **data, size_t *sizes,
                                                 enum cudaMemRangeAttribute *attributes,
                                                 size_t number, const void *ptr, size_t count)
{
    cudaError_t error = cudaSuccess;

    if (data == NULL || sizes == NULL || attributes == NULL || number == 0)
        return error_record(cudaErrorInvalidValue);
    for (size_t i = 0; i < number && error == cudaSuccess; i++)
        error = cudaMemRangeGetAttribute(data[i], sizes[i], attributes[i], ptr, count);
    return error;
}

/* ---- Moving ---------------------------------------------------------------------------------- */

/* To the host: the caller waits for the stream's earlier work and for the copy. To the device: the
 * memory moves with the next work. */
static cudaError_t prefetch(const void *ptr, size_t size, struct cudaMemLocation location,
                            unsigned flags, cudaStream_t handle, bool per_thread)
{
    struct memory_range range;
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    if (error == cudaSuccess)
        error = flags == 0 ? range_check(ptr, size, &range) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = location_check(location, &range);
    if (error == cudaSuccess && stream_capturing(stream))
        error = capture_refuse(stream);
    if (error == cudaSuccess && location_is_host(location))
        error = managed_to_host(ptr, size);
    if (error == cudaSuccess)
        error = managed_prefetched(ptr, location_is_host(location) ? cudaCpuDeviceId : location.id);
    return error_record(error);
}

CUDART_API cudaError_t cudaMemPrefetchAsync(const void *ptr, size_t size,
                                            struct cudaMemLocation location, unsigned flags,
                                            cudaStream_t stream)
{
    return prefetch(ptr, size, location, flags, stream, false);
}

CUDART_API cudaError_t cudaMemPrefetchAsync_ptsz(const void *ptr, size_t size,
                                                 struct cudaMemLocation location, unsigned flags,
                                                 cudaStream_t stream)
{
    return prefetch(ptr, size, location, flags, stream, true);
}

/* All streams reach the memory, and the host waits for all of them. */
static cudaError_t attach(cudaStream_t handle, void *ptr, size_t length, unsigned flags,
                          bool per_thread)
{
    struct memory_range range;
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    if (error == cudaSuccess && flags != cudaMemAttachGlobal && flags != cudaMemAttachHost &&
        flags != cudaMemAttachSingle)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = range_check(ptr, length != 0 ? length : 1, &range);
    if (error == cudaSuccess && flags == cudaMemAttachSingle && stream_is_legacy(stream))
        error = cudaErrorInvalidValue;
    return error_record(error);
}

CUDART_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *ptr, size_t length,
                                                unsigned flags)
{
    return attach(stream, ptr, length, flags, false);
}

CUDART_API cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void *ptr, size_t length,
                                                     unsigned flags)
{
    return attach(stream, ptr, length, flags, true);
}

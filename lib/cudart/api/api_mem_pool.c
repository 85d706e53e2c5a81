/*
 * api_mem_pool.c - cudaMallocAsync and cudaFreeAsync, memory pools, and the memory of graphs.
 * cudaMallocAsync allocates immediately, which is early enough for any work of the stream.
 */
#include <string.h>
#include <sys/random.h>

#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/capture.h"
#include "cudart/graph/graph_memory.h"
#include "cudart/state/device_memory.h"
#include "cudart/state/peer_access.h"
#include "cudart/state/stream.h"

/* ---- Allocation ------------------------------------------------------------------------------ */

static cudaError_t alloc_capture(void **out, size_t size, struct stream *stream)
{
    struct op op;
    cudaError_t error = out != NULL ? op_alloc(&op, size, out) : cudaErrorInvalidValue;

    return error == cudaSuccess ? capture_op(stream, &op) : error;
}

static cudaError_t free_capture(const void *ptr, struct stream *stream)
{
    struct op op;
    cudaError_t error = op_free_memory(&op, ptr);

    return error == cudaSuccess ? capture_op(stream, &op) : error;
}

/* pool NULL: the current pool of the stream's device. The heap of another device does not know the
 * order of the stream, and returns memory that no work uses. */
static cudaError_t alloc_async(void **out, size_t size, cudaMemPool_t pool, cudaStream_t handle,
                               bool per_thread)
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);
    unsigned number = 0;

    if (error == cudaSuccess)
        number = mem_pool_find(pool != NULL ? pool : mem_pool_current());
    if (error == cudaSuccess && (number == 0 || mem_pool_shared(number, true) != 0))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = device_use_number((int)mem_pool_device(number));
    if (error == cudaSuccess && stream_capturing(stream))
        error = alloc_capture(out, size, stream);
    else if (error == cudaSuccess)
        error = device_memory_alloc_async(out, size, number,
                                          device_number() == stream->device ? stream : NULL);
    return error_record(error);
}

CUDART_API cudaError_t cudaMallocAsync(void **out, size_t size, cudaStream_t stream)
{
    return alloc_async(out, size, NULL, stream, false);
}

CUDART_API cudaError_t cudaMallocAsync_ptsz(void **out, size_t size, cudaStream_t stream)
{
    return alloc_async(out, size, NULL, stream, true);
}

CUDART_API cudaError_t cudaMallocFromPoolAsync(void **out, size_t size, cudaMemPool_t pool,
                                               cudaStream_t stream)
{
    return pool != NULL ? alloc_async(out, size, pool, stream, false)
                        : error_record(cudaErrorInvalidValue);
}

CUDART_API cudaError_t cudaMallocFromPoolAsync_ptsz(void **out, size_t size, cudaMemPool_t pool,
                                                    cudaStream_t stream)
{
    return pool != NULL ? alloc_async(out, size, pool, stream, true)
                        : error_record(cudaErrorInvalidValue);
}

static cudaError_t free_async(void *ptr, cudaStream_t handle, bool per_thread)
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    if (error != cudaSuccess || ptr == NULL)
        return error_record(error);
    if (stream_capturing(stream))
        error = free_capture(ptr, stream);
    else if (!graph_memory_free_at(ptr, &error))
        error = device_memory_free_async(ptr, stream);
    return error_record(error);
}

CUDART_API cudaError_t cudaFreeAsync(void *ptr, cudaStream_t stream)
{
    return free_async(ptr, stream, false);
}

CUDART_API cudaError_t cudaFreeAsync_ptsz(void *ptr, cudaStream_t stream)
{
    return free_async(ptr, stream, true);
}

/* ---- Pools ----------------------------------------------------------------------------------- */

CUDART_API cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
    cudaError_t error = device_use();
    uint64_t shared = 0;

    if (error == cudaSuccess && (pool == NULL || props == NULL))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess &&
        (props->allocType != cudaMemAllocationTypePinned ||
         (unsigned)props->handleTypes > cudaMemHandleTypePosixFileDescriptor ||
         props->location.type != cudaMemLocationTypeDevice))
        error = error_unsupported("a memory pool that is not of the device, or exported by another "
                                  "handle than a file descriptor");
    if (error == cudaSuccess)
        error = device_use_number(props->location.id);
    if (error == cudaSuccess && props->handleTypes != cudaMemHandleTypeNone &&
        getrandom(&shared, sizeof(shared), 0) != sizeof(shared))
        error = cudaErrorOperatingSystem;
    return error_record(error == cudaSuccess ? mem_pool_new(pool, props->maxSize, shared, false)
                                             : error);
}

CUDART_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    return error_record(mem_pool_end(pool));
}

/* A device's pools. */
static cudaError_t pool_get(cudaMemPool_t *pool, int number, cudaMemPool_t (*get)(void))
{
    cudaError_t error = device_use_number(number);

    if (error == cudaSuccess && pool == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *pool = get();
    return error_record(error);
}

CUDART_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int number)
{
    return pool_get(pool, number, mem_pool_default);
}

CUDART_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int number)
{
    return pool_get(pool, number, mem_pool_current);
}

CUDART_API cudaError_t cudaDeviceSetMemPool(int number, cudaMemPool_t pool)
{
    const cudaError_t error = device_use_number(number);

    return error_record(error == cudaSuccess ? mem_pool_choose(pool) : error);
}

#ifndef GS_CUDART_12
/* Whether the location can have pools: it must be a device. */
static cudaError_t location_check(const struct cudaMemLocation *location,
                                  enum cudaMemAllocationType type)
{
    const bool managed = type == cudaMemAllocationTypeManaged;

    if (location == NULL || (type != cudaMemAllocationTypePinned && !managed))
        return cudaErrorInvalidValue;
    switch ((int)location->type) {
    case cudaMemLocationTypeDevice:
        return managed ? error_unsupported("a pool of managed memory") : cudaSuccess;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
        return error_unsupported("a memory pool of the host's");
    case cudaMemLocationTypeInvalid: /* also means that there is no preferred location */
        return managed ? error_unsupported("a pool of managed memory") : cudaErrorInvalidValue;
    default:
        return cudaErrorInvalidValue;
    }
}

CUDART_API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool,
                                                struct cudaMemLocation *location,
                                                enum cudaMemAllocationType type)
{
    const cudaError_t error = location_check(location, type);

    return error == cudaSuccess ? cudaDeviceGetDefaultMemPool(pool, location->id)
                                : error_record(error);
}

CUDART_API cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
                                         enum cudaMemAllocationType type)
{
    const cudaError_t error = location_check(location, type);

    return error == cudaSuccess ? cudaDeviceGetMemPool(pool, location->id) : error_record(error);
}

CUDART_API cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location,
                                         enum cudaMemAllocationType type, cudaMemPool_t pool)
{
    const cudaError_t error = location_check(location, type);

    return error == cudaSuccess ? cudaDeviceSetMemPool(location->id, pool) : error_record(error);
}
#endif

static cudaError_t attribute_set(struct mem_pool *pool, enum cudaMemPoolAttr what,
                                 const void *value)
{
    uint64_t number;

    if (what >= cudaMemPoolReuseFollowEventDependencies &&
        what <= cudaMemPoolReuseAllowInternalDependencies) {
        memcpy(&pool->reuse[what - cudaMemPoolReuseFollowEventDependencies], value, sizeof(int));
        return cudaSuccess;
    }
    memcpy(&number, value, sizeof(number));
    if (what == cudaMemPoolAttrReleaseThreshold)
        pool->release_threshold = number;
    else if (number != 0 ||
             (what != cudaMemPoolAttrReservedMemHigh && what != cudaMemPoolAttrUsedMemHigh))
        return cudaErrorInvalidValue; /* a high-water mark can only be reset */
    else if (what == cudaMemPoolAttrUsedMemHigh)
        pool->used_high = pool->used;
    else
        pool->reserved_high = 0; /* the mark starts at what the pool holds now */
    return cudaSuccess;
}

CUDART_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr what,
                                               void *value)
{
    struct mem_pool after;
    uint64_t reserved;

    if (value == NULL)
        return error_record(cudaErrorInvalidValue);
    return error_record(mem_pool_change(pool, &after, &reserved, attribute_set, what, value));
}

CUDART_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr what,
                                               void *value)
{
    struct mem_pool now;
    uint64_t reserved;
    cudaError_t error = mem_pool_change(pool, &now, &reserved, NULL, what, NULL);

    if (error == cudaSuccess && value == NULL)
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error_record(error);
    switch (what) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        memcpy(value, &now.reuse[what - cudaMemPoolReuseFollowEventDependencies], sizeof(int));
        return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
        memcpy(value, &now.release_threshold, sizeof(uint64_t));
        return cudaSuccess;
    case cudaMemPoolAttrReservedMemCurrent:
        memcpy(value, &reserved, sizeof(uint64_t));
        return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
        memcpy(value, &now.reserved_high, sizeof(uint64_t));
        return cudaSuccess;
    case cudaMemPoolAttrUsedMemCurrent:
        memcpy(value, &now.used, sizeof(uint64_t));
        return cudaSuccess;
    case cudaMemPoolAttrUsedMemHigh:
        memcpy(value, &now.used_high, sizeof(uint64_t));
        return cudaSuccess;
    default:
        return error_record(cudaErrorInvalidValue);
    }
}

CUDART_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t kept)
{
    return error_record(mem_pool_trim(pool, kept));
}

static bool is_device(const struct cudaMemLocation *location)
{
    return location->type == cudaMemLocationTypeDevice && location->id >= 0 &&
           location->id < (int)device_count();
}

static cudaError_t access_set(unsigned pool, const struct cudaMemAccessDesc *desc)
{
    const bool access = desc->flags == cudaMemAccessFlagsProtReadWrite;
    cudaError_t error;

    if (!is_device(&desc->location))
        return cudaErrorInvalidDevice;
    if (!access && desc->flags != cudaMemAccessFlagsProtNone)
        return cudaErrorInvalidValue;
    /* The pool's own device always has access. */
    if (desc->location.id == (int)mem_pool_device(pool))
        return access ? cudaSuccess : cudaErrorInvalidDevice;
    if (mem_pool_shared(pool, true) != 0) /* the memory belongs to another process */
        return access ? cudaErrorInvalidDevice : cudaSuccess;
    error = device_use_number((int)mem_pool_device(pool));
    return error == cudaSuccess ? peer_access_pool(pool, (unsigned)desc->location.id, access)
                                : error;
}

CUDART_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool,
                                            const struct cudaMemAccessDesc *descs, size_t count)
{
    const unsigned number = mem_pool_find(pool);
    cudaError_t error = cudaSuccess;

    if (number == 0 || (descs == NULL && count != 0))
        return error_record(cudaErrorInvalidValue);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = access_set(number, &descs[i]);
    return error_record(error);
}

CUDART_API cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                            struct cudaMemLocation *location)
{
    const unsigned number = mem_pool_find(pool);

    if (flags == NULL || location == NULL || number == 0)
        return error_record(cudaErrorInvalidValue);
    if (!is_device(location))
        return error_record(cudaErrorInvalidDevice);
    *flags = location->id == (int)mem_pool_device(number) ||
                     peer_access_to_pool(number, (unsigned)location->id)
                 ? cudaMemAccessFlagsProtReadWrite
                 : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
}

/* ---- Memory of graphs ------------------------------------------------------------------------ */

static cudaError_t graph_device_check(int number, const void *value)
{
    const cudaError_t error = device_use_number(number);

    return error == cudaSuccess && value == NULL ? cudaErrorInvalidValue : error;
}

CUDART_API cudaError_t cudaDeviceGetGraphMemAttribute(int number,
                                                      enum cudaGraphMemAttributeType what,
                                                      void *value)
{
    cudaError_t error = graph_device_check(number, value);
    struct graph_memory_figures now;
    uint64_t figures[4];

    if (error == cudaSuccess && (unsigned)what > cudaGraphMemAttrReservedMemHigh)
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error_record(error);
    now = graph_memory_figures(false, false);
    figures[cudaGraphMemAttrUsedMemCurrent] = now.used;
    figures[cudaGraphMemAttrUsedMemHigh] = now.used_high;
    figures[cudaGraphMemAttrReservedMemCurrent] = now.reserved;
    figures[cudaGraphMemAttrReservedMemHigh] = now.reserved_high;
    memcpy(value, &figures[what], sizeof(figures[what]));
    return cudaSuccess;
}

/* A high-water mark can only be reset. */
CUDART_API cudaError_t cudaDeviceSetGraphMemAttribute(int number,
                                                      enum cudaGraphMemAttributeType what,
                                                      void *value)
{
    cudaError_t error = graph_device_check(number, value);
    uint64_t given = 0;

    if (error == cudaSuccess)
        memcpy(&given, value, sizeof(given));
    if (error == cudaSuccess && (given != 0 || (what != cudaGraphMemAttrUsedMemHigh &&
                                                what != cudaGraphMemAttrReservedMemHigh)))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        graph_memory_figures(what == cudaGraphMemAttrUsedMemHigh,
                             what == cudaGraphMemAttrReservedMemHigh);
    return error_record(error);
}

/* Memory that no graph needs is freed immediately, so there is nothing to trim. */
CUDART_API cudaError_t cudaDeviceGraphMemTrim(int number)
{
    return error_record(graph_device_check(number, ""));
}

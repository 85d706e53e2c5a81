/* device_memory.c - see device_memory.h. */
#include "cudart/state/device_memory.h"

#include <pthread.h>

#include "cudart/base/handles.h"
#include "cudart/state/device.h"
#include "cudart/state/heaps.h"
#include "cudart/state/managed.h"
#include "cudart/state/memory_map.h"
#include "cudart/state/peer_access.h"
#include "cudart/state/stream.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle_slot slots[POOLS_MAX];
static struct mem_pool pools[POOLS_MAX];
static struct handles handles = HANDLES_INIT(slots, POOLS_MAX, 14);
/* By device number. */
static cudaMemPool_t first[DEVICES_MAX];   /* the default pool; NULL: not made yet */
static cudaMemPool_t current[DEVICES_MAX]; /* NULL: the default pool */

/* ---- Pools' accounts ------------------------------------------------------------------------- */

/* By device number: some pool holds more than its threshold allows. */
static _Atomic bool pools_over[DEVICES_MAX];

/* Adds SIZE to the pool's account. False: the pool would exceed its maximum. */
static bool pool_count_in(unsigned pool, uint64_t size)
{
    struct mem_pool *p = &pools[pool - 1];
    bool fits;

    pthread_mutex_lock(&lock);
    fits = size <= p->maximum - p->used;
    if (fits)
        p->used += size;
    pthread_mutex_unlock(&lock);
    return fits;
}

static void pool_note_highs(unsigned pool)
{
    struct mem_pool *p = &pools[pool - 1];
    uint64_t reserved;

    pthread_mutex_lock(&lock);
    reserved = heaps_held(pool);
    if (p->used > p->used_high)
        p->used_high = p->used;
    if (reserved > p->reserved_high)
        p->reserved_high = reserved;
    pthread_mutex_unlock(&lock);
}

static void pool_count_out(unsigned pool, uint64_t size)
{
    struct mem_pool *p = &pools[pool - 1];

    pthread_mutex_lock(&lock);
    p->used -= size;
    if (heaps_held(pool) > p->release_threshold)
        atomic_store_explicit(&pools_over[p->device], true, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Detects the end of the session, which an allocation that does not ask the server would not
 * notice. */
static gs_status session_check(void)
{
    gs_status status = gs_stream_query(device_session(), NULL);

    return status == GS_NOT_READY || status == GS_ERR_RECORDING ? GS_OK : status;
}

/* Takes a block from a heap and adds it to the memory map. */
static cudaError_t block_alloc(void **out, size_t size, unsigned pool, struct stream *stream)
{
    struct block *block;
    gs_status status = session_check();

    if (status == GS_OK)
        status = heaps_take(pool, stream, size, &block);
    if (status != GS_OK)
        return device_error(status);
    if (!memory_map_add_block(block, size, pool)) {
        heaps_give(block, stream);
        return cudaErrorMemoryAllocation;
    }
    *out = (void *)(uintptr_t)block->base; // NOLINT: an address of the device
    return cudaSuccess;
}

static cudaError_t pool_alloc(void **out, size_t size, unsigned pool, struct stream *stream)
{
    cudaError_t error = cudaErrorMemoryAllocation;

    if (!pool_count_in(pool, block_size_of(size)))
        return error;
    error = block_alloc(out, size, pool, stream);
    if (error == cudaSuccess)
        pool_note_highs(pool);
    else
        pool_count_out(pool, block_size_of(size));
    return error;
}

/* Allocates from the server. */
static cudaError_t server_alloc(void **out, size_t size)
{
    gs_devptr ptr;
    gs_status status = peer_malloc(HEAP_OF_MALLOC, size, &ptr);

    if ((status == GS_ERR_QUOTA || status == GS_ERR_NO_DEVICE_MEMORY) && heaps_give_all())
        status = peer_malloc(HEAP_OF_MALLOC, size, &ptr);
    if (status != GS_OK)
        return device_error(status);
    /* NOLINTNEXTLINE: an address of the device */
    if (!memory_map_add((void *)(uintptr_t)ptr, size, MEMORY_DEVICE, 0)) {
        peer_free(ptr);
        return cudaErrorMemoryAllocation;
    }
    *out = (void *)(uintptr_t)ptr; // NOLINT: likewise
    return cudaSuccess;
}

cudaError_t device_memory_alloc(void **out, size_t size)
{
    if (out == NULL)
        return cudaErrorInvalidValue;
    if (size == 0) {
        *out = NULL;
        return cudaSuccess;
    }
    return size <= heaps_spare_most() ? block_alloc(out, size, HEAP_OF_MALLOC, NULL)
                                      : server_alloc(out, size);
}

cudaError_t device_memory_alloc_async(void **out, size_t size, unsigned pool, struct stream *stream)
{
    if (out == NULL)
        return cudaErrorInvalidValue;
    if (size == 0) {
        *out = NULL;
        return cudaSuccess;
    }
    if (size > SIZE_MAX - BLOCK_ALIGN)
        return cudaErrorMemoryAllocation;
    return pool_alloc(out, size, pool, stream);
}

/* stream NULL: all work that may use the block is done. */
static gs_status block_free(const struct memory_range *range, struct stream *stream)
{
    gs_status status = heaps_give(range->block, stream);

    if (range->flags != HEAP_OF_MALLOC)
        pool_count_out(range->flags, block_size_of(range->size));
    return status;
}

/* Handles an address that is not in the map, or not the beginning of a range: either an allocation
 * by gs_malloc, which libgshare checks, or no allocation at all. */
static cudaError_t other_free(const void *ptr)
{
    const int window = device_of_window(ptr);
    struct memory_range range;

    if (memory_map_find(ptr, &range) || memory_map_in_arena(ptr))
        return cudaErrorInvalidValue;
    if (window >= 0)
        device_enter((unsigned)window);
    return device_error(gs_free(device_session(), (uint64_t)(uintptr_t)ptr));
}

cudaError_t device_memory_free(void *ptr)
{
    struct memory_range range;
    gs_status status;

    /* Removes the range from the map before the address can be handed out again. */
    if (!memory_map_take(ptr, &range))
        return other_free(ptr);
    device_enter(range.device);
    if (range.kind == MEMORY_MANAGED)
        return managed_free(ptr);
    status = gs_sync(device_session());
    peer_accessors_sync();
    if (status == GS_OK)
        status =
            range.block != NULL ? block_free(&range, NULL) : peer_free(range.base - range.offset);
    return device_error(status);
}

cudaError_t device_memory_free_async(void *ptr, struct stream *stream)
{
    struct memory_range range;
    gs_status status;

    if (!memory_map_find(ptr, &range) || range.base != (uintptr_t)ptr || range.block == NULL ||
        range.flags == HEAP_OF_MALLOC)
        return device_memory_free(ptr);
    status = session_check();
    /* The legacy stream comes after all work of blocking streams so far. */
    if (status == GS_OK)
        status = stream_enter(stream);
    if (status != GS_OK)
        return stream_error(stream, status);
    stream_leave(stream);
    /* The heap of another device does not know the order of this stream. */
    if (range.device != stream->device)
        status = stream_wait(stream);
    if (status != GS_OK)
        return stream_error(stream, status);
    if (!memory_map_take(ptr, &range) || range.block == NULL)
        return cudaErrorInvalidValue; /* another thread has freed it */
    if (range.device != stream->device) {
        device_enter(range.device);
        stream = NULL;
    }
    return device_error(block_free(&range, stream));
}

cudaError_t device_memory_share(const void *ptr, gs_devptr *exported, size_t *offset, size_t *size)
{
    const uint64_t address = (uint64_t)(uintptr_t)ptr;
    struct memory_range range;

    *exported = address;
    *offset = *size = 0;
    if (!memory_map_find(ptr, &range))
        return cudaSuccess; /* made by gs_malloc; libgshare checks it */
    if (range.kind != MEMORY_DEVICE || range.base != address ||
        (range.block != NULL && range.flags != HEAP_OF_MALLOC))
        return cudaErrorInvalidValue;
    if (range.block != NULL)
        *exported = heaps_share(range.block);
    *offset = address - *exported;
    *size = range.size;
    return cudaSuccess;
}

/* ---- Pools ----------------------------------------------------------------------------------- */

/* The lock is held. */
static cudaError_t pool_open(cudaMemPool_t *out, uint64_t maximum, uint64_t shared, bool imported)
{
    uint64_t handle;
    int number = handles_take(&handles, &handle);

    if (number < 0)
        return cudaErrorMemoryAllocation;
    pools[number] = (struct mem_pool){
        .reuse = {1, 1, 1},
        .maximum = imported       ? 0
                   : maximum != 0 ? maximum
                                  : UINT64_MAX,
        .shared = shared,
        .imported = imported,
        .device = device_number(),
    };
    handles_open(&handles, number);
    *out = (cudaMemPool_t)(uintptr_t)handle; // NOLINT: a handle is a value
    return cudaSuccess;
}

cudaError_t mem_pool_new(cudaMemPool_t *out, uint64_t maximum, uint64_t shared, bool imported)
{
    cudaError_t error;

    pthread_mutex_lock(&lock);
    error = pool_open(out, maximum, shared, imported);
    pthread_mutex_unlock(&lock);
    return error;
}

cudaMemPool_t mem_pool_default(void)
{
    cudaMemPool_t pool;

    pthread_mutex_lock(&lock);
    if (first[device_number()] == NULL)
        pool_open(&first[device_number()], 0, 0, false);
    pool = first[device_number()];
    pthread_mutex_unlock(&lock);
    return pool;
}

unsigned mem_pool_find(cudaMemPool_t handle)
{
    return (unsigned)(handles_find(&handles, (uint64_t)(uintptr_t)handle) + 1);
}

unsigned mem_pool_device(unsigned pool)
{
    return pools[pool - 1].device;
}

uint64_t mem_pool_shared(unsigned pool, bool imported)
{
    return pools[pool - 1].imported == imported ? pools[pool - 1].shared : 0;
}

cudaError_t mem_pool_end(cudaMemPool_t handle)
{
    int number;

    number = handles_find(&handles, (uint64_t)(uintptr_t)handle);
    if (number < 0 || handle == first[pools[number].device])
        return cudaErrorInvalidValue;
    number = handles_close(&handles, (uint64_t)(uintptr_t)handle);
    if (number < 0)
        return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    device_enter(pools[number].device);
    if (current[device_number()] == handle)
        current[device_number()] = NULL;
    /* The pool still accounts for memory that is in use, so its number is not reused yet. */
    pools[number].ended = true;
    pools[number].release_threshold = 0;
    atomic_store_explicit(&pools_over[device_number()], true, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    mem_pools_waited();
    return cudaSuccess;
}

cudaMemPool_t mem_pool_current(void)
{
    cudaMemPool_t pool;

    pthread_mutex_lock(&lock);
    pool = current[device_number()];
    pthread_mutex_unlock(&lock);
    return pool != NULL ? pool : mem_pool_default();
}

cudaError_t mem_pool_choose(cudaMemPool_t handle)
{
    const unsigned pool = mem_pool_find(handle);

    if (pool == 0 || pools[pool - 1].imported || pools[pool - 1].device != device_number())
        return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    current[device_number()] = handle;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaError_t mem_pool_change(cudaMemPool_t handle, struct mem_pool *out, uint64_t *reserved,
                            cudaError_t (*change)(struct mem_pool *pool, enum cudaMemPoolAttr what,
                                                  const void *value),
                            enum cudaMemPoolAttr what, const void *value)
{
    unsigned pool = mem_pool_find(handle);
    cudaError_t error = cudaSuccess;

    if (pool == 0)
        return cudaErrorInvalidValue;
    device_enter(pools[pool - 1].device);
    pthread_mutex_lock(&lock);
    *reserved = heaps_held(pool);
    if (change != NULL)
        error = change(&pools[pool - 1], what, value);
    if (pools[pool - 1].reserved_high < *reserved)
        pools[pool - 1].reserved_high = *reserved;
    *out = pools[pool - 1];
    pthread_mutex_unlock(&lock);
    return error;
}

/* Whether the devices that have access to a pool of the call's device are idle. Freeing the pool's
 * memory waits for all their work, some of which may wait for what this thread does next. */
static bool accessors_idle(unsigned pool)
{
    const unsigned owner = device_number();
    bool idle = true;

    for (unsigned i = 0; i < device_count() && idle; i++) {
        if (!peer_access_to_pool(pool, i))
            continue;
        device_enter(i);
        idle = streams_query() == GS_OK;
    }
    device_enter(owner);
    return idle;
}

cudaError_t mem_pool_trim(cudaMemPool_t handle, size_t kept)
{
    unsigned pool = mem_pool_find(handle);

    if (pool == 0)
        return cudaErrorInvalidValue;
    device_enter(pools[pool - 1].device);
    /* gs_free may wait for all work, for the same reason. */
    return streams_query() == GS_OK && accessors_idle(pool) ? device_error(heaps_trim(pool, kept))
                                                            : cudaSuccess;
}

void mem_pools_waited(void)
{
    _Atomic bool *over = &pools_over[device_number()];

    if (!atomic_load_explicit(over, memory_order_relaxed))
        return;
    if (streams_query() != GS_OK) /* as above; the next call that waits tries again */
        return;
    atomic_store_explicit(over, false, memory_order_relaxed);
    for (uint32_t i = 0; i < handles.fresh; i++) {
        uint64_t threshold;
        bool ended;

        if (pools[i].device != device_number())
            continue;
        if (!accessors_idle(i + 1)) {
            atomic_store_explicit(over, true, memory_order_relaxed);
            continue;
        }
        pthread_mutex_lock(&lock);
        threshold = pools[i].release_threshold;
        pthread_mutex_unlock(&lock);
        heaps_trim(i + 1, threshold);
        pthread_mutex_lock(&lock);
        ended = pools[i].ended && pools[i].used == 0 && heaps_held(i + 1) == 0;
        pools[i].ended = pools[i].ended && !ended;
        pthread_mutex_unlock(&lock);
        if (ended) {
            peer_access_pool_end(i + 1);
            handles_free(&handles, (int)i);
        }
    }
}

void device_memory_forget(void)
{
    heaps_forget();
    pthread_mutex_lock(&lock);
    current[device_number()] = NULL;
    for (uint32_t i = 0; i < handles.fresh; i++) {
        if (pools[i].device == device_number())
            pools[i].used = pools[i].used_high = pools[i].reserved_high = 0;
    }
    pthread_mutex_unlock(&lock);
}

/* device_memory.c - see device_memory.h. */
#include "cudart/state/device_memory.h"

#include <pthread.h>

#include "cudart/base/handles.h"
#include "cudart/state/device.h"
#include "cudart/state/managed.h"
#include "cudart/state/memory_map.h"

#define POOLS_MAX 1024u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle_slot slots[POOLS_MAX];
static struct mem_pool pools[POOLS_MAX];
static struct handles handles = HANDLES_INIT(slots, POOLS_MAX, 14);
static cudaMemPool_t first;   /* the default one; NULL: not made yet */
static cudaMemPool_t current; /* NULL: the default one */

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Counts memory of a pool in or out. */
static void pool_count(unsigned pool, uint64_t size, bool in)
{
    struct mem_pool *p;

    if (pool == 0)
        return;
    pthread_mutex_lock(&lock);
    p = &pools[pool - 1];
    p->used = in ? p->used + size : p->used - size;
    if (p->used > p->used_high)
        p->used_high = p->used;
    pthread_mutex_unlock(&lock);
}

cudaError_t device_memory_alloc(void **out, size_t size, unsigned pool)
{
    gs_devptr ptr;
    gs_status status;

    if (out == NULL)
        return cudaErrorInvalidValue;
    if (size == 0) {
        *out = NULL;
        return cudaSuccess;
    }
    status = gs_malloc(device_session(), size, &ptr);
    if (status != GS_OK)
        return device_error(status);
    /* NOLINTNEXTLINE: an address of the device */
    if (!memory_map_add((void *)(uintptr_t)ptr, size, MEMORY_DEVICE, pool)) {
        gs_free(device_session(), ptr);
        return cudaErrorMemoryAllocation;
    }
    pool_count(pool, size, true);
    *out = (void *)(uintptr_t)ptr; // NOLINT: likewise
    return cudaSuccess;
}

cudaError_t device_memory_free(void *ptr)
{
    struct memory_range range;
    /* An import or an allocation of gs_malloc is not in the map: libgshare checks the address. */
    bool known = memory_map_find(ptr, &range) && range.base == (uintptr_t)ptr;
    gs_status status;

    if (known && memory_is_host(&range))
        return cudaErrorInvalidValue;
    /* Before the address can be given out again. */
    memory_map_remove(ptr);
    if (known && range.kind == MEMORY_MANAGED)
        return managed_free(ptr);
    status = gs_free(device_session(), (uint64_t)(uintptr_t)ptr);
    if (status == GS_OK && known)
        pool_count(range.flags, range.size, false);
    return device_error(status);
}

/* ---- Pools ----------------------------------------------------------------------------------- */

cudaError_t mem_pool_new(cudaMemPool_t *out)
{
    uint64_t handle;
    int number = handles_take(&handles, &handle);

    if (number < 0)
        return cudaErrorMemoryAllocation;
    pools[number] = (struct mem_pool){.reuse = {1, 1, 1}};
    handles_open(&handles, number);
    *out = (cudaMemPool_t)(uintptr_t)handle; // NOLINT: a handle is a value
    return cudaSuccess;
}

cudaMemPool_t mem_pool_default(void)
{
    cudaMemPool_t pool;

    pthread_mutex_lock(&lock);
    if (first == NULL)
        mem_pool_new(&first);
    pool = first;
    pthread_mutex_unlock(&lock);
    return pool;
}

unsigned mem_pool_find(cudaMemPool_t handle)
{
    return (unsigned)(handles_find(&handles, (uint64_t)(uintptr_t)handle) + 1);
}

cudaError_t mem_pool_end(cudaMemPool_t handle)
{
    int number;

    if (handle == mem_pool_default())
        return cudaErrorInvalidValue;
    number = handles_close(&handles, (uint64_t)(uintptr_t)handle);
    if (number < 0)
        return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    if (current == handle)
        current = NULL;
    /* Memory that is still out is counted there, so its number is not given out again. */
    if (pools[number].used == 0)
        handles_free(&handles, number);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaMemPool_t mem_pool_current(void)
{
    cudaMemPool_t pool;

    pthread_mutex_lock(&lock);
    pool = current;
    pthread_mutex_unlock(&lock);
    return pool != NULL ? pool : mem_pool_default();
}

cudaError_t mem_pool_choose(cudaMemPool_t handle)
{
    if (mem_pool_find(handle) == 0)
        return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    current = handle;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaError_t mem_pool_change(cudaMemPool_t handle, struct mem_pool *out,
                            cudaError_t (*change)(struct mem_pool *pool, enum cudaMemPoolAttr what,
                                                  const void *value),
                            enum cudaMemPoolAttr what, const void *value)
{
    unsigned pool = mem_pool_find(handle);
    cudaError_t error = cudaSuccess;

    if (pool == 0)
        return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    if (change != NULL)
        error = change(&pools[pool - 1], what, value);
    *out = pools[pool - 1];
    pthread_mutex_unlock(&lock);
    return error;
}

void mem_pools_forget(void)
{
    pthread_mutex_lock(&lock);
    current = NULL;
    for (uint32_t i = 0; i < handles.fresh; i++)
        pools[i].used = pools[i].used_high = 0;
    pthread_mutex_unlock(&lock);
}

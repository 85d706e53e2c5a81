/* managed_memory.c - see managed_memory.h. */
#include "cudart/state/managed_memory.h"

#include <pthread.h>

#include "cudart/base/block_heap.h"
#include "cudart/state/device.h"
#include "cudart/state/heaps.h"
#include "cudart/state/peer_access.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block_heap slabs[DEVICES_MAX]; /* by the device's number */

/* Adds a slab. False: *status says why. The lock is held. */
static bool slab_add(struct block_heap *heap, gs_status *status)
{
    gs_devptr base;

    *status = peer_malloc(HEAP_OF_MANAGED, SLAB_SIZE, &base);
    if (*status == GS_OK && block_heap_add(heap, base, SLAB_SIZE, false) == NULL) {
        peer_free(base);
        *status = GS_ERR_NO_MEMORY;
    }
    return *status == GS_OK;
}

/* Returns an unused slab to the server. The lock is held. */
static gs_status slab_remove(struct block_heap *heap)
{
    struct arena *empty = block_heap_empty(heap);
    uint64_t base;

    if (empty == NULL)
        return GS_OK;
    base = empty->base;
    block_heap_remove(empty);
    return peer_free(base);
}

/* Blocks are not page-aligned, so each has room for one page more than it needs. */
static gs_status block_alloc(size_t size, size_t page, struct managed_memory *memory)
{
    struct block_heap *heap = &slabs[device_number()];
    gs_status status = GS_OK;

    pthread_mutex_lock(&lock);
    memory->block = block_heap_take(heap, size + page, false, 0);
    if (memory->block == NULL && slab_add(heap, &status))
        memory->block = block_heap_take(heap, size + page, false, 0);
    pthread_mutex_unlock(&lock);
    if (memory->block == NULL)
        return status != GS_OK ? status : GS_ERR_NO_MEMORY;
    memory->base = (memory->block->base + page - 1) / page * page;
    return GS_OK;
}

gs_status managed_memory_alloc(size_t size, size_t page, struct managed_memory *memory)
{
    if (size < BLOCK_WHOLE)
        return block_alloc(size, page, memory);
    memory->block = NULL;
    return peer_malloc(HEAP_OF_MANAGED, size, &memory->base);
}

gs_status managed_memory_free(const struct managed_memory *memory)
{
    gs_status status;

    if (memory->block == NULL)
        return peer_free(memory->base);
    pthread_mutex_lock(&lock);
    block_heap_give(memory->block);
    status = slab_remove(&slabs[device_number()]);
    pthread_mutex_unlock(&lock);
    return status;
}

void managed_memory_forget(void)
{
    pthread_mutex_lock(&lock);
    block_heap_deinit(&slabs[device_number()]);
    pthread_mutex_unlock(&lock);
}

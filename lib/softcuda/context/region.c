// Limits of a context, and the driver's own device memory: workspaces of cooperative grids, then
// the heap behind malloc in kernels. Guarded by the lock of context.c.
#include <stdlib.h>
#include <sys/mman.h>

#include "softcuda/context/context.h"
#include "softcuda/memory/heap.h"
#include "softcuda/memory/memory.h"

enum {
    STACK_MOST = 511 << 10, // the limit of an H200
    WORKSPACE_BYTES = 256,  // for one cooperative grid
    WORKSPACES_BYTES = WORKSPACE_BYTES * DEVICE_MAX_GRIDS,
};

CUresult context_set_limit(CUcontext root, CUlimit limit, uint64_t value)
{
    CUresult result = CUDA_SUCCESS;

    if ((unsigned)limit >= CONTEXT_LIMITS)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    context_lock();
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE && (root->region || value > (uint64_t)1 << 34))
        result = CUDA_ERROR_INVALID_VALUE; // cannot change once a kernel has run
    else if (limit == CU_LIMIT_STACK_SIZE && value > STACK_MOST)
        result = CUDA_ERROR_INVALID_VALUE;
    else
        root->limits[limit] = value;
    context_unlock();
    return result;
}

CUresult context_get_limit(CUcontext root, CUlimit limit, uint64_t *value)
{
    if ((unsigned)limit >= CONTEXT_LIMITS)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    context_lock();
    *value = root->limits[limit];
    context_unlock();
    return CUDA_SUCCESS;
}

// The region is the driver's own memory, not the application's, so it is not charged to the quota.
static CUresult region_make(CUcontext root)
{
    uint64_t heap_bytes = root->limits[CU_LIMIT_MALLOC_HEAP_SIZE];
    uint64_t size =
        (WORKSPACES_BYTES + heap_bytes + MEMORY_GRANULARITY - 1) & ~(MEMORY_GRANULARITY - 1);
    uint64_t base;
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

    root->heap = NULL;
    memory_lock();
    base = address_reserve(size, MEMORY_GRANULARITY, 0);
    if (base) {
        root->heap = heap_new(base + WORKSPACES_BYTES, heap_bytes);
        if (root->heap && !mprotect(mem_pointer(base), size, PROT_READ | PROT_WRITE))
            result = range_insert(&(struct range){.base = base,
                                                  .size = size,
                                                  .kind = RANGE_CHUNK,
                                                  .access = MEM_READ | MEM_WRITE,
                                                  .owner = NULL});
        if (result) {
            heap_free(root->heap);
            address_release(base, size);
        }
    }
    memory_unlock();
    if (!result)
        root->region = base;
    return result;
}

CUresult context_prepare(CUcontext root, uint32_t *stack)
{
    CUresult result = CUDA_SUCCESS;

    context_lock();
    *stack = (uint32_t)root->limits[CU_LIMIT_STACK_SIZE];
    if (!root->region)
        result = region_make(root);
    context_unlock();
    return result;
}

// The workspace begins with two words: its size, then the barrier, which must start at zero.
uint64_t context_workspace(CUcontext root, uint32_t slot)
{
    uint64_t address = root->region + (uint64_t)slot * WORKSPACE_BYTES;
    uint32_t *words = mem_pointer(address);

    words[0] = WORKSPACE_BYTES;
    for (size_t i = 1; i < WORKSPACE_BYTES / sizeof(words[0]); i++)
        words[i] = 0;
    return address;
}

void context_region_free(CUcontext c)
{
    uint64_t size = WORKSPACES_BYTES + c->limits[CU_LIMIT_MALLOC_HEAP_SIZE];

    if (!c->region)
        return;
    memory_lock();
    range_remove(c->region);
    address_release(c->region, (size + MEMORY_GRANULARITY - 1) & ~(MEMORY_GRANULARITY - 1));
    memory_unlock();
    heap_free(c->heap);
    c->heap = NULL;
    c->region = 0;
}

/* device_memory.h - allocations of device memory, and the pools that they are counted in. A pool
 * keeps no memory back: what is freed goes back to the server at once. */
#ifndef GS_CUDART_DEVICE_MEMORY_H
#define GS_CUDART_DEVICE_MEMORY_H

#include "cudart/abi.h"

/* pool: of mem_pool_find, or 0. */
cudaError_t device_memory_alloc(void **out, size_t size, unsigned pool);
/* Waits for the session's work. */
cudaError_t device_memory_free(void *ptr);

/* ---- Pools: numbers from 1; the device's default pool is 1 and stays ------------------------- */

struct mem_pool {
    int reuse[3]; /* the attributes of that name, which have no effect */
    uint64_t release_threshold;
    uint64_t used, used_high;
};

cudaMemPool_t mem_pool_default(void);
cudaError_t mem_pool_new(cudaMemPool_t *out);
cudaError_t mem_pool_end(cudaMemPool_t handle);
/* 0: none. */
unsigned mem_pool_find(cudaMemPool_t handle);
/* The pool of cudaMallocAsync. */
cudaMemPool_t mem_pool_current(void);
cudaError_t mem_pool_choose(cudaMemPool_t handle);
/* Copies out what the pool has, and changes it by the function, if not NULL. */
cudaError_t mem_pool_change(cudaMemPool_t handle, struct mem_pool *out,
                            cudaError_t (*change)(struct mem_pool *pool, enum cudaMemPoolAttr what,
                                                  const void *value),
                            enum cudaMemPoolAttr what, const void *value);
/* The session is gone, with the memory of all pools; the default one is the device's again. */
void mem_pools_forget(void);

#endif

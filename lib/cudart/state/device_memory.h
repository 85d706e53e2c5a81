/* device_memory.h - allocations of device memory, and the pools that they are counted in. Up to 1
 * MiB, and of pools, they are blocks of memory that the session has already (heaps.h). */
#ifndef GS_CUDART_DEVICE_MEMORY_H
#define GS_CUDART_DEVICE_MEMORY_H

#include "cudart/abi.h"
#include "gshare.h"

struct stream;

cudaError_t device_memory_alloc(void **out, size_t size);
/* Waits for the session's work. */
cudaError_t device_memory_free(void *ptr);
/* In the order of the stream. pool: of mem_pool_find. */
cudaError_t device_memory_alloc_async(void **out, size_t size, unsigned pool,
                                      struct stream *stream);
/* Waits for the session's work if no pool has the memory. */
cudaError_t device_memory_free_async(void *ptr, struct stream *stream);
/* Another process is about to have it too. exported: the allocation of the server's which it is a
 * part of, at the offset. */
cudaError_t device_memory_share(const void *ptr, gs_devptr *exported, size_t *offset, size_t *size);

/* ---- Pools: numbers from 1; the device's default pool is 1 and stays ------------------------- */

struct mem_pool {
    int reuse[3]; /* the attributes of that name, which have no effect */
    uint64_t release_threshold;
    uint64_t used, used_high;
    uint64_t reserved_high;
    bool ended; /* it has no handle any more; its number is given out again once it has no memory */
};

cudaMemPool_t mem_pool_default(void);
cudaError_t mem_pool_new(cudaMemPool_t *out);
cudaError_t mem_pool_end(cudaMemPool_t handle);
/* 0: none. */
unsigned mem_pool_find(cudaMemPool_t handle);
/* The pool of cudaMallocAsync. */
cudaMemPool_t mem_pool_current(void);
cudaError_t mem_pool_choose(cudaMemPool_t handle);
/* Copies out what the pool has, and changes it by the function, if not NULL. reserved: what it
 * holds of the server's memory. */
cudaError_t mem_pool_change(cudaMemPool_t handle, struct mem_pool *out, uint64_t *reserved,
                            cudaError_t (*change)(struct mem_pool *pool, enum cudaMemPoolAttr what,
                                                  const void *value),
                            enum cudaMemPoolAttr what, const void *value);
/* Gives the server what the pool does not use, until it holds that much or less. */
cudaError_t mem_pool_trim(cudaMemPool_t handle, size_t kept);

/* At the end of a call that has waited for work: a pool gives the server what it holds beyond its
 * release threshold and does not use. */
void mem_pools_waited(void);

/* The session is gone, with its memory; the default pool is the device's again. */
void device_memory_forget(void);

#endif

/* device_memory.h - allocations of device memory, and the pools that account for them. Allocations
 * up to 1 MiB, and all from pools, are blocks of memory that the session already has (heaps.h). */
#ifndef GS_CUDART_DEVICE_MEMORY_H
#define GS_CUDART_DEVICE_MEMORY_H

#include "cudart/abi.h"
#include "gshare.h"

struct stream;

cudaError_t device_memory_alloc(void **out, size_t size);
/* Waits for the session's work. */
cudaError_t device_memory_free(void *ptr);
/* Allocates memory for work that follows in the stream. pool: a number from mem_pool_find, of the
 * call's device. stream NULL: the stream belongs to another device. */
cudaError_t device_memory_alloc_async(void **out, size_t size, unsigned pool,
                                      struct stream *stream);
/* Frees memory once the stream's work so far is done. Memory of no pool is freed at once, which
 * waits for the session's work. */
cudaError_t device_memory_free_async(void *ptr, struct stream *stream);
/* Records that another process is about to get the memory, too. The memory is in the server's
 * allocation *exported, at *offset. */
cudaError_t device_memory_share(const void *ptr, gs_devptr *exported, size_t *offset, size_t *size);

/* ---- Pools: numbers from 1; a device's default pool stays ------------------------------------ */

struct mem_pool {
    int reuse[3]; /* the attributes of that name, which have no effect */
    uint64_t release_threshold;
    uint64_t maximum; /* of used */
    uint64_t used, used_high;
    uint64_t reserved_high;
    uint64_t shared; /* the name by which other processes know the pool; 0: it is not exported */
    bool imported;   /* the pool is another process's, and allocates nothing */
    unsigned device; /* its number */
    bool ended; /* the pool has no handle any more; its number is reused once it has no memory */
};

cudaMemPool_t mem_pool_default(void);
/* maximum: the most bytes that may be allocated from the pool; 0: unlimited. shared, imported: see
 * struct mem_pool. */
cudaError_t mem_pool_new(cudaMemPool_t *out, uint64_t maximum, uint64_t shared, bool imported);
cudaError_t mem_pool_end(cudaMemPool_t handle);
/* The number of the pool; 0: the handle is invalid. */
unsigned mem_pool_find(cudaMemPool_t handle);
/* The number of the pool's device. */
unsigned mem_pool_device(unsigned pool);
/* The pool's mem_pool.shared if the pool's `imported` is the one given; otherwise 0. */
uint64_t mem_pool_shared(unsigned pool, bool imported);
/* The pool that cudaMallocAsync uses on the call's device. */
cudaMemPool_t mem_pool_current(void);
cudaError_t mem_pool_choose(cudaMemPool_t handle);
/* Copies the pool's figures to *out, and changes them with the function `change`, which may be
 * NULL. reserved: the server's memory that the pool holds, in bytes. */
cudaError_t mem_pool_change(cudaMemPool_t handle, struct mem_pool *out, uint64_t *reserved,
                            cudaError_t (*change)(struct mem_pool *pool, enum cudaMemPoolAttr what,
                                                  const void *value),
                            enum cudaMemPoolAttr what, const void *value);
/* Gives memory that the pool does not use back to the server, until the pool holds `kept` bytes or
 * less. */
cudaError_t mem_pool_trim(cudaMemPool_t handle, size_t kept);

/* Called at the end of a call that has waited for work: each pool returns unused memory beyond its
 * release threshold to the server. */
void mem_pools_waited(void);

/* Forgets all memory, because the session is gone; the default pool becomes the device's current
 * one again. */
void device_memory_forget(void);

#endif

/*
 * managed.h - memory that host and kernels reach at one address: managed memory, and pinned memory
 * that is mapped.
 *
 * It is device memory of the session's window, and the process maps pages of its own at the same
 * addresses, where nothing else can be. A block of it is either the host's, whose pages can be
 * reached, or the device's, whose pages cannot. Before the device gets work, all blocks of the host
 * are copied to it and become its own. An access of the host to a block of the device is a fault:
 * the accessing thread waits until all the session's work is done and the block is copied back. So
 * host and device never have a block at once, as on devices whose concurrentManagedAccess is 0.
 *
 * The memory is of the device where it was allocated, its owner. Other devices of the process that
 * get work reach it by peer access, where they can have that: their work comes after the owner has
 * all blocks of the host, and the host waits for the work of all of them. Of a variable each device
 * has a copy, whose blocks move from one device to another by way of the host.
 *
 * The handler of SIGSEGV only asks a thread, the pager, and waits: libgshare must not be called in
 * a handler. A fault that is none of these goes to the handler that was there before.
 */
#ifndef GS_CUDART_MANAGED_H
#define GS_CUDART_MANAGED_H

#include <stdatomic.h>

#include "cudart/abi.h"
#include "cudart/state/device.h"

/* The number of regions of such memory; managed_region.c alone writes it. The pointer is constant.
 */
extern const _Atomic unsigned *const managed_regions;

cudaError_t managed_alloc(void **out, size_t size);
/* Frees managed memory, which begins at ptr. Waits for the session's work. */
cudaError_t managed_free(void *ptr);
bool managed_has_slow(const void *ptr);
gs_status managed_work_begin_slow(void);
void managed_work_end_slow(void);
/* Gives the host the blocks of a range, once all work is done. */
cudaError_t managed_to_host(const void *ptr, size_t size);
/* Forgets all such memory of the call's device, because its session ends. */
void managed_forget(void);

/* Whether host and device both reach the address. */
static inline bool managed_has(const void *ptr)
{
    return atomic_load_explicit(managed_regions, memory_order_relaxed) != 0 &&
           managed_has_slow(ptr);
}

/* These two stand around a call that gives the device work which may reach such memory: the first
 * gives the device all blocks, and a thread that wants one back waits for the second, then for the
 * work. The caller reaches no such memory in between. held: whether there is such memory. */
static inline gs_status managed_work_begin(bool *held)
{
    gs_status status = GS_OK;

    *held = atomic_load_explicit(managed_regions, memory_order_acquire) != 0;
    if (*held)
        status = managed_work_begin_slow();
    *held = *held && status == GS_OK;
    return status;
}

static inline void managed_work_end(bool held)
{
    if (held)
        managed_work_end_slow();
}

#endif

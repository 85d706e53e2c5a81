/*
 * managed.h - managed memory, which host and kernels reach at one address.
 *
 * It is device memory in the session's window, and the process maps pages of its own at the same
 * addresses. At any time either the host or the device has a block of it; the pages of the device's
 * blocks are protected from the host. Before the device gets work, all blocks of the host are
 * copied to the device and become the device's. When the host accesses a block of the device, it
 * faults: the accessing thread waits until all work of the session is done and the block is copied
 * back. So host and device never use a block at the same time, as on devices whose
 * concurrentManagedAccess is 0.
 *
 * The device on which the memory was allocated is its owner. Other devices of the process reach it
 * by peer access, if they can: their work starts after the owner has received all blocks of the
 * host, and the host waits for the work of all of them. A __managed__ variable has a copy on each
 * device, and its blocks move from one device to another by way of the host.
 *
 * The handler of SIGSEGV only asks a thread, the pager, and waits for it, because libgshare must
 * not be called in a handler. Any other fault goes to the handler that was installed before.
 */
#ifndef GS_CUDART_MANAGED_H
#define GS_CUDART_MANAGED_H

#include <stdatomic.h>

#include "cudart/abi.h"
#include "cudart/state/device.h"

/* The number of regions. Only managed_region.c writes it. */
extern const _Atomic unsigned *const managed_regions;

cudaError_t managed_alloc(void **out, size_t size);
/* Frees the managed memory that begins at ptr. Waits for the session's work. */
cudaError_t managed_free(void *ptr);
bool managed_has_slow(const void *ptr);
gs_status managed_work_begin_slow(void);
void managed_work_end_slow(void);
/* Waits for all work, then gives the blocks of the range to the host. */
cudaError_t managed_to_host(const void *ptr, size_t size);
/* Forgets all managed memory of the call's device, whose session ends. */
void managed_forget(void);

/* Whether there is managed memory at the address. */
static inline bool managed_has(const void *ptr)
{
    return atomic_load_explicit(managed_regions, memory_order_relaxed) != 0 &&
           managed_has_slow(ptr);
}

/* These two enclose a call that gives the device work which may reach managed memory. The first
 * gives all blocks to the device. A thread that wants one back waits for the second call, then for
 * the work. Between the two the caller must not access managed memory. *held: there is any. */
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

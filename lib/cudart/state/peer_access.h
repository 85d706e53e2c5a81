/*
 * peer_access.h - peer access: kernels and copies of one device reach memory of another device, the
 * owner, because the owner's allocations are imported at their own addresses (gs_mem_import).
 * cudaMalloc, pools and managed memory allocate and free their memory here, so that it is mapped on
 * all devices with access for as long as it exists. Any thread.
 */
#ifndef GS_CUDART_PEER_ACCESS_H
#define GS_CUDART_PEER_ACCESS_H

#include "cudart/abi.h"
#include "gshare.h"

/* Like gs_malloc and gs_free, on the call's device. pool: HEAP_OF_MALLOC, HEAP_OF_MANAGED
 * (heaps.h), or a pool of the device. peer_free waits for the work of all devices with access. */
gs_status peer_malloc(unsigned pool, size_t size, gs_devptr *base);
gs_status peer_free(gs_devptr base);
/* Waits for the work of all devices that have access to the call's device. A device whose session
 * has ended has no work, and reports the end by its own calls. */
void peer_accessors_sync(void);

/* Finds whether the device can have access to the owner's memory; *can is false also where a limit
 * or a lack of memory prevents it for now. Attaches to both devices; the call's device stays. */
cudaError_t peer_access_can(unsigned number, unsigned owner, bool *can);
/* Gives the call's device access to the owner's memory, or takes it away.
 * cudaErrorPeerAccessUnsupported is final; the cause of other errors may pass. */
cudaError_t peer_access_enable(unsigned owner);
cudaError_t peer_access_disable(unsigned owner);
/* Gives another device access to a pool of the call's device, or takes it away.
 * cudaErrorInvalidDevice: that device cannot have access. */
cudaError_t peer_access_pool(unsigned pool, unsigned number, bool access);
bool peer_access_to_pool(unsigned pool, unsigned number);
/* Gives the call's device access to the owner's managed memory, if it does not have it yet. Errors
 * as of peer_access_enable. */
cudaError_t peer_access_managed(unsigned owner);
/* Whether the device has that access, or is the owner. */
bool peer_access_to_managed(unsigned number, unsigned owner);
/* Takes all access to the pool away before its number is used for another pool. */
void peer_access_pool_end(unsigned pool);
/* Whether the owner's memory at the address is mapped on the device. */
bool peer_access_reaches(unsigned number, unsigned owner, const void *ptr);
/* Takes away all access to and from the call's device, before it is detached. */
void peer_access_forget(void);

#endif

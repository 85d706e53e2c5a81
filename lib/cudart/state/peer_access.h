/*
 * peer_access.h - peer access: kernels and copies of one device that reach memory of another one,
 * the owner, by import of the owner's allocations at their own addresses (gs_mem_import). What
 * cudaMalloc, pools and managed memory take from the server is allocated and freed here, so that
 * devices which have access have it mapped from its first moment to its last. Any thread.
 */
#ifndef GS_CUDART_PEER_ACCESS_H
#define GS_CUDART_PEER_ACCESS_H

#include "cudart/abi.h"
#include "gshare.h"

/* As gs_malloc and gs_free, on the call's device. pool: HEAP_OF_MALLOC, HEAP_OF_MANAGED (heaps.h),
 * or one of the device's. Freeing waits for the work of the devices that have access. */
gs_status peer_malloc(unsigned pool, size_t size, gs_devptr *base);
gs_status peer_free(gs_devptr base);
/* Waits for the work of the devices that have access to the call's device. One whose session has
 * ended has none, and its own calls tell that. */
void peer_accessors_sync(void);

/* Whether the device can have access to the owner's memory; not where a limit or memory is in the
 * way for now. Attaches to both; leaves the call with its device. */
cudaError_t peer_access_can(unsigned number, unsigned owner, bool *can);
/* Gives the call's device access to the owner's memory, or takes it away.
 * cudaErrorPeerAccessUnsupported: the devices cannot have it; other errors may pass. */
cudaError_t peer_access_enable(unsigned owner);
cudaError_t peer_access_disable(unsigned owner);
/* The same of a pool of the call's device, for another one. cudaErrorInvalidDevice: that one cannot
 * have access. */
cudaError_t peer_access_pool(unsigned pool, unsigned number, bool access);
bool peer_access_to_pool(unsigned pool, unsigned number);
/* Gives the call's device access to the owner's managed memory, unless it has it. Errors as above.
 */
cudaError_t peer_access_managed(unsigned owner);
/* Whether the device has it, or is the owner. */
bool peer_access_to_managed(unsigned number, unsigned owner);
/* The pool has no memory, and its number becomes another's. */
void peer_access_pool_end(unsigned pool);
/* Whether the device has the memory at the address, which is the owner's, mapped. */
bool peer_access_reaches(unsigned number, unsigned owner, const void *ptr);
/* The call's device is to be detached: nobody has access to it, nor it to others. */
void peer_access_forget(void);

#endif

/* managed_advice.h - the program's advice and prefetches for managed memory. They are kept for
 * cudaMemRangeGetAttribute and have no other effect. Any thread. */
#ifndef GS_CUDART_MANAGED_ADVICE_H
#define GS_CUDART_MANAGED_ADVICE_H

#include "cudart/abi.h"
#include "cudart/state/device.h"

/* The advice for one allocation. */
struct managed_advice {
    bool read_mostly;
    int preferred, prefetched;     /* a device, cudaCpuDeviceId, or cudaInvalidDeviceId */
    int accessed[DEVICES_MAX + 1]; /* the host, and each device */
    size_t accessed_count;
};

/* These return cudaErrorInvalidValue if there is no managed memory at the address. */
cudaError_t managed_advise(const void *ptr, enum cudaMemoryAdvise advice, int device);
cudaError_t managed_advice_of(const void *ptr, struct managed_advice *advice);
cudaError_t managed_prefetched(const void *ptr, int device);

#endif

/* managed_advice.h - what the program has said of managed memory: advice and prefetches, which are
 * kept for cudaMemRangeGetAttribute and change nothing. Any thread. */
#ifndef GS_CUDART_MANAGED_ADVICE_H
#define GS_CUDART_MANAGED_ADVICE_H

#include "cudart/abi.h"
#include "cudart/state/device.h"

/* What the program has said of an allocation. */
struct managed_advice {
    bool read_mostly;
    int preferred, prefetched;     /* a device, cudaCpuDeviceId, or cudaInvalidDeviceId */
    int accessed[DEVICES_MAX + 1]; /* the host, and each device */
    size_t accessed_count;
};

/* cudaErrorInvalidValue: the address is of no managed memory. */
cudaError_t managed_advise(const void *ptr, enum cudaMemoryAdvise advice, int device);
cudaError_t managed_advice_of(const void *ptr, struct managed_advice *advice);
cudaError_t managed_prefetched(const void *ptr, int device);

#endif

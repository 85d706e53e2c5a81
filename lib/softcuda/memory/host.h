// Host memory that kernels may touch: registered ranges and cuMemHostAlloc. Any thread; the
// functions take the memory lock.
#ifndef GS_SOFTCUDA_MEMORY_HOST_H
#define GS_SOFTCUDA_MEMORY_HOST_H

#include "cuda/abi.h"

CUresult host_register(CUcontext owner, void *address, uint64_t size, uint32_t flags);
CUresult host_unregister(void *address);
CUresult host_alloc(CUcontext owner, uint64_t size, void **address);
CUresult host_free(void *address);
// CUDA_ERROR_INVALID_VALUE where ADDRESS is neither registered nor allocated here.
CUresult host_device_pointer(uint64_t *device, void *address);

#endif

// SM partitions: device resources, their splits, and green contexts over them. Any thread.
#ifndef GS_SOFTCUDA_LIFECYCLE_GREEN_H
#define GS_SOFTCUDA_LIFECYCLE_GREEN_H

#include "cuda/abi.h"
#include "softcuda/device/device.h"

void resource_of(CUdevResource *resource, const struct sm_set *sms);
CUresult resource_split(CUdevResource *groups, unsigned int *group_count,
                        const CUdevResource *input, CUdevResource *remaining, unsigned int flags,
                        unsigned int min_count);
CUresult resource_describe(CUdevResourceDesc *desc, const CUdevResource *resources,
                           unsigned int count);

CUresult green_new(CUgreenCtx *out, CUdevResourceDesc desc);
CUresult green_free(CUgreenCtx green);
CUresult green_check(CUgreenCtx green);
CUcontext green_context(CUgreenCtx green);

#endif

/*
 * green_context.c - the driver's objects of a partition: its green context, and a stream and two
 * events for work that goes without a graph.
 */
#include "worker/partition/green_context.h"

#include "worker/partition/sm_topology.h"

void green_context_deinit(struct partition *partition)
{
    if (partition->after)
        DRV_MUST(cuEventDestroy_v2, partition->after);
    if (partition->before)
        DRV_MUST(cuEventDestroy_v2, partition->before);
    if (partition->aside)
        DRV_MUST(cuStreamDestroy_v2, partition->aside);
    if (partition->green)
        DRV_MUST(cuGreenCtxDestroy, partition->green);
    partition->after = partition->before = NULL;
    partition->aside = NULL;
    partition->green = NULL;
}

CUresult partition_aside_begin(const struct partition *partition, CUstream stream)
{
    CUresult result = DRV(cuEventRecord, partition->before, stream);

    return result ? result : DRV(cuStreamWaitEvent, partition->aside, partition->before, 0);
}

CUresult partition_aside_end(const struct partition *partition, CUstream stream)
{
    CUresult result = DRV(cuEventRecord, partition->after, partition->aside);

    return result ? result : DRV(cuStreamWaitEvent, stream, partition->after, 0);
}

/* Makes the two events. An event belongs to the context that is current when it is made, and is
 * recorded in a stream of the same context. */
static CUresult events_make(struct partition *partition)
{
    CUresult result = DRV(cuEventCreate, &partition->before, CU_EVENT_DISABLE_TIMING);

    if (result)
        return result;
    DRV_MUST(cuCtxSetCurrent, partition->context);
    result = DRV(cuEventCreate, &partition->after, CU_EVENT_DISABLE_TIMING);
    DRV_MUST(cuCtxSetCurrent, worker->context);
    return result;
}

CUresult green_context_init(struct partition *partition)
{
    CUdevResourceDesc desc;
    CUresult result;

    if ((result = sm_topology_describe(&partition->mask, &desc)) ||
        (result = DRV(cuGreenCtxCreate, &partition->green, desc, worker->device,
                      CU_GREEN_CTX_DEFAULT_STREAM)) ||
        (result = DRV(cuCtxFromGreenCtx, &partition->context, partition->green)) ||
        (result = DRV(cuGreenCtxStreamCreate, &partition->aside, partition->green,
                      CU_STREAM_NON_BLOCKING, 0)))
        return result;
    return events_make(partition);
}

CUresult partition_whole(struct partition *partition)
{
    CUdevResource resource;
    CUdevResourceDesc desc;
    CUresult result;

    if ((result =
             DRV(cuDeviceGetDevResource, worker->device, &resource, CU_DEV_RESOURCE_TYPE_SM)) ||
        (result = DRV(cuDevResourceGenerateDesc, &desc, &resource, 1)) ||
        (result = DRV(cuGreenCtxCreate, &partition->green, desc, worker->device,
                      CU_GREEN_CTX_DEFAULT_STREAM)) ||
        (result = DRV(cuCtxFromGreenCtx, &partition->context, partition->green)))
        return result;
    partition->mask = sm_mask_first(worker->info.sm_count);
    partition->sm_count = worker->info.sm_count;
    partition->state = PARTITION_READY;
    return CUDA_SUCCESS;
}

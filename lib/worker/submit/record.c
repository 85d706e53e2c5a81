/*
 * record.c - what a tenant's records may say.
 *
 * The worker believes nothing in a ring: it copies a whole record out and checks every field of the
 * copy against what the session has. A record that fails a check comes from a damaged client, since
 * the client library makes the same checks first; it ends that session only.
 *
 * Reads the session's tables: runs on the session's lane, or in the session's job in progress.
 */
#include "worker/submit/record.h"

#include <string.h>

#include "common/ring.h"
#include "worker/memory/host_block.h"
#include "worker/partition/carveout.h"

record_fault record_check_launch(const struct session *session, unsigned char *record,
                                 uint32_t size, struct launch *launch)
{
    struct rec_launch r;
    uint64_t threads = 1;

    memcpy(&r, record, sizeof(r));
    struct kernel *kernel = kernel_find(&session->kernels, r.kernel);
    if (!kernel)
        return "a launch of a kernel that does not exist";
    if (r.param_bytes != kernel->param_bytes)
        return "a launch whose parameters have not the kernel's size";
    if (r.h.flags & ~(REC_LAUNCH_TIME | REC_LAUNCH_QOS | REC_LAUNCH_COOPERATIVE))
        return "a launch with flags of no known meaning";
    if (kernel->syncs_grid && !(r.h.flags & REC_LAUNCH_COOPERATIVE))
        return "a launch that is not cooperative of a kernel that synchronises its grid";
    if (size != launch_record_size(r.h.flags, r.param_bytes))
        return "a launch of a wrong size";
    if (r.report && !(r.h.flags & REC_LAUNCH_TIME))
        return "a launch with a report and without the time of its submission";
    for (int i = 0; i < 3; i++) {
        if (r.grid[i] == 0 || r.grid[i] > worker->info.max_grid_dim[i])
            return "a grid beyond the device's limits";
        if (r.block[i] == 0 || r.block[i] > worker->info.max_block_dim[i])
            return "a block beyond the device's limits";
        threads *= r.block[i];
    }
    if (threads > kernel->max_threads)
        return "a block of more threads than the kernel can have";
    if (r.dynamic_smem > kernel->max_dynamic_smem)
        return "more dynamic shared memory than the kernel can have";
    carveout_fit(kernel, (uint32_t)threads, r.dynamic_smem);
    launch->kernel = kernel;
    memcpy(launch->grid, r.grid, sizeof(r.grid));
    memcpy(launch->block, r.block, sizeof(r.block));
    launch->dynamic_smem = r.dynamic_smem;
    launch->cooperative = r.h.flags & REC_LAUNCH_COOPERATIVE;
    launch->params = record + sizeof(r);
    return NULL;
}

static bool device_range(const struct session *session, uint64_t address, uint64_t bytes)
{
    return space_containing((struct space *)&session->memory.allocations, address, bytes) != NULL;
}

/* The block's memory at `offset`, if the block has `bytes` there and the device can reach them;
 * else NULL. */
static unsigned char *host_range(const struct session *session, uint32_t block, uint64_t offset,
                                 uint64_t bytes)
{
    const struct host_block *host = host_block_find(session, block);

    if (!host || !host->pinned || offset > host->size || bytes > host->size - offset)
        return NULL;
    return host->memory + offset;
}

record_fault record_check_copy(const struct session *session, const struct rec_copy *copy,
                               struct transfer *transfer)
{
    *transfer = (struct transfer){
        .bytes = copy->bytes, .dst = copy->dst, .src = copy->src, .block = SEG_HOSTS};
    if (copy->bytes == 0)
        return "a copy of 0 bytes";
    switch (copy->kind) {
    case REC_HTOD:
        transfer->kind = TRANSFER_HTOD;
        transfer->block = copy->host;
        transfer->host = host_range(session, copy->host, copy->src, copy->bytes);
        return !transfer->host                                  ? "a copy from outside a host block"
               : !device_range(session, copy->dst, copy->bytes) ? "a copy to outside an allocation"
                                                                : NULL;
    case REC_DTOH:
        transfer->kind = TRANSFER_DTOH;
        transfer->block = copy->host;
        transfer->host = host_range(session, copy->host, copy->dst, copy->bytes);
        return !transfer->host ? "a copy to outside a host block"
               : !device_range(session, copy->src, copy->bytes)
                   ? "a copy from outside an allocation"
                   : NULL;
    case REC_DTOD:
        transfer->kind = TRANSFER_DTOD;
        return device_range(session, copy->src, copy->bytes) &&
                       device_range(session, copy->dst, copy->bytes)
                   ? NULL
                   : "a copy outside an allocation";
    default:
        return "a copy of no known kind";
    }
}

record_fault record_check_memset(const struct session *session, const struct rec_memset *set,
                                 struct transfer *transfer)
{
    *transfer = (struct transfer){.kind = TRANSFER_SET,
                                  .dst = set->dst,
                                  .bytes = set->bytes,
                                  .value = (unsigned char)set->value,
                                  .block = SEG_HOSTS};
    return set->bytes > 0 && device_range(session, set->dst, set->bytes)
               ? NULL
               : "a memset outside an allocation";
}

CUresult transfer_issue(const struct transfer *transfer, CUstream stream)
{
    switch (transfer->kind) {
    case TRANSFER_HTOD:
        return DRV(cuMemcpyHtoDAsync_v2, transfer->dst, transfer->host, transfer->bytes, stream);
    case TRANSFER_DTOH:
        return DRV(cuMemcpyDtoHAsync_v2, transfer->host, transfer->src, transfer->bytes, stream);
    case TRANSFER_DTOD:
        return DRV(cuMemcpyDtoDAsync_v2, transfer->dst, transfer->src, transfer->bytes, stream);
    default:
        return DRV(cuMemsetD8Async, transfer->dst, transfer->value, transfer->bytes, stream);
    }
}

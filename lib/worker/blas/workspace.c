/* workspace.c - see workspace.h. */
#include "worker/blas/workspace.h"

#include <stdlib.h>

#include "worker/memory/device_memory.h"

/* Returns the size to which a workspace grows: a power of two, since each growth is a piece. */
static uint64_t size_for(uint64_t bytes)
{
    uint64_t size = worker->granularity;

    while (size < bytes)
        size *= 2;
    return size;
}

static gs_status piece_map(struct job *job, struct workspace *workspace, uint64_t size)
{
    struct holder *piece = &workspace->piece[workspace->pieces];

    if (physical_new(job, size, piece) != GS_OK)
        return job->status;
    const CUresult result =
        device_map(workspace->reserved + workspace->size, size, physical_handle(piece->memory));
    if (!result) {
        workspace->pieces++;
        return GS_OK;
    }
    physical_release(piece);
    return job_fail_driver(job, result);
}

uint64_t workspace_grow(struct job *job, struct workspace *workspace, uint64_t bytes)
{
    const uint64_t size = size_for(bytes);
    CUdeviceptr address = workspace->reserved;

    if (!address) {
        const CUresult result = DRV(cuMemAddressReserve, &address, WORKSPACE_MOST, 0, 0, 0);
        if (result) {
            job_fail_driver(job, result);
            return 0;
        }
        workspace->reserved = address;
    }
    return piece_map(job, workspace, size - workspace->size) == GS_OK ? size : 0;
}

void workspace_free(struct workspace *workspace)
{
    uint64_t at;

    if (!workspace)
        return;
    at = workspace->reserved;
    for (uint32_t i = 0; i < workspace->pieces; i++) {
        const uint64_t size = physical_size(workspace->piece[i].memory);

        DRV_MUST(cuMemUnmap, at, size);
        physical_release(&workspace->piece[i]);
        at += size;
    }
    if (workspace->reserved)
        DRV_MUST(cuMemAddressFree, workspace->reserved, WORKSPACE_MOST);
    free(workspace);
}

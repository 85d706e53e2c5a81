/*
 * workspace.c - workspaces for products.
 *
 * They lie outside all windows, so that a fenced tenant's kernels cannot change what cuBLAS'
 * kernels find there. Few serve all streams: a product takes one that is not in use, else it waits
 * on the device for the product that began first.
 */
#include "worker/blas/workspace.h"

#include <stdatomic.h>
#include <stdint.h>

#include "worker/driver/lost.h"

#define WORKSPACES 4u

static struct workspace workspaces[WORKSPACES];
static _Atomic uint32_t made; /* how many there are */
static uint32_t last;         /* the one that was taken last */

bool workspaces_make(void)
{
    uint32_t count = atomic_load_explicit(&made, memory_order_relaxed);

    if (count > 0)
        return true;
    while (count < WORKSPACES) {
        struct workspace *new = &workspaces[count];

        if (DRV(cuMemAlloc_v2, &new->at, WORKSPACE_BYTES))
            break;
        if (DRV(cuEventCreate, &new->end, CU_EVENT_DISABLE_TIMING)) {
            DRV(cuMemFree_v2, new->at);
            break;
        }
        count++;
    }
    /* release: publishes them; pairs with workspace_take */
    atomic_store_explicit(&made, count, memory_order_release);
    return count > 0;
}

CUdeviceptr workspace_any(void)
{
    return workspaces[0].at;
}

static bool free_of_work(struct workspace *workspace)
{
    if (workspace->busy) {
        CUresult result = cu->cuEventQuery(workspace->end);

        if (driver_fatal(result)) {
            driver_failed("cuEventQuery", result);
            device_lost(result);
        }
        workspace->busy = result == CUDA_ERROR_NOT_READY;
    }
    return !workspace->busy;
}

CUresult workspace_take(CUstream stream, struct workspace **workspace)
{
    const uint32_t count = atomic_load_explicit(&made, memory_order_acquire);
    struct workspace *oldest = &workspaces[(last + 1) % count];

    for (uint32_t i = 0; i < count; i++) { /* a stream's products follow one another anyway */
        if (workspaces[i].busy && workspaces[i].stream == stream) {
            *workspace = &workspaces[i];
            return CUDA_SUCCESS;
        }
    }
    for (uint32_t i = 1; i <= count; i++) {
        const uint32_t next = (last + i) % count;

        if (free_of_work(&workspaces[next])) {
            last = next;
            *workspace = &workspaces[next];
            return CUDA_SUCCESS;
        }
    }
    last = (uint32_t)(oldest - workspaces);
    *workspace = oldest;
    return DRV(cuStreamWaitEvent, stream, oldest->end, 0);
}

CUresult workspace_give(struct workspace *workspace, CUstream stream)
{
    workspace->busy = true;
    workspace->stream = stream;
    return DRV(cuEventRecord, workspace->end, stream);
}

/*
 * workspace.h - a stream's memory for products that are computed in parts.
 *
 * It lies outside all windows, so that no fenced kernel changes what the library's kernels find,
 * and belongs to one stream, whose order is all that it needs. It grows in place, up to
 * WORKSPACE_MOST, so graphs that name it stay right. A session is charged for the workspaces of its
 * streams as for its own allocations. What it holds means nothing between two products, so nothing
 * of it is journaled.
 *
 * The session's lane; workspace_grow and workspace_free belong to its job in progress.
 */
#ifndef GS_WORKER_BLAS_WORKSPACE_H
#define GS_WORKER_BLAS_WORKSPACE_H

#include "worker/memory/physical.h"

#define WORKSPACE_MOST   (32u << 20) /* what cuBLAS takes for a stream of a Hopper by itself */
#define WORKSPACE_PIECES 16u         /* each at least doubles it */

struct workspace {
    uint64_t address, size; /* size: how much of it is mapped; 0: it has no address either */
    bool growing;           /* a chore makes it larger */
    uint64_t refused;       /* the session's generation + 1 when that was refused; 0: never */
    uint32_t pieces;
    struct holder piece[WORKSPACE_PIECES];
};

/* Whether it has so many bytes. NULL has 0, here and below. */
static inline bool workspace_holds(const struct workspace *workspace, size_t bytes)
{
    return bytes <= (workspace ? workspace->size : 0);
}

static inline CUdeviceptr workspace_address(const struct workspace *workspace)
{
    return workspace ? workspace->address : 0;
}

/* Maps more behind what there is, so that it has `bytes`, at most WORKSPACE_MOST. Returns its size,
 * which the lane is to set. 0: the job has failed, and the workspace is as it was. */
uint64_t workspace_grow(struct job *job, struct workspace *workspace, uint64_t bytes);
/* The device has finished all that used it. NULL is fine. */
void workspace_free(struct workspace *workspace);

#endif

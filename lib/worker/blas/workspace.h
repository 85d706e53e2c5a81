/*
 * workspace.h - a workspace: memory of a stream for products that are computed in parts.
 *
 * It lies outside of all windows, so that no fenced kernel can change the intermediate results of
 * the library's kernels. It belongs to one stream, whose order is all the synchronisation that it
 * needs. It grows in place, up to WORKSPACE_MOST, so graphs that contain its address stay valid. A
 * session is charged for the workspaces of its streams as for its own allocations. Its content has
 * no meaning between two products, so it is not in the journal.
 *
 * The session's lane; workspace_grow and workspace_free belong to its job in progress. The lane may
 * issue products meanwhile, so a job writes only what the lane does not read, and the lane takes
 * over the rest by workspace_grown, once the job has come back to it.
 */
#ifndef GS_WORKER_BLAS_WORKSPACE_H
#define GS_WORKER_BLAS_WORKSPACE_H

#include "worker/memory/physical.h"

#define WORKSPACE_MOST   (32u << 20) /* what cuBLAS takes for a stream of a Hopper by itself */
#define WORKSPACE_PIECES 16u         /* each at least doubles it */

struct workspace {
    uint64_t address, size; /* the memory that products may use; changed by the lane alone */
    bool growing;           /* a chore makes it larger */
    uint64_t refused;       /* the session's generation + 1 when that was refused; 0: never */
    /* Changed by the job alone: */
    uint64_t reserved; /* the range in which it grows; 0: none yet */
    uint32_t pieces;
    struct holder piece[WORKSPACE_PIECES];
};

/* Returns whether the workspace has at least `bytes`. NULL is a workspace of size 0, here and
 * below. */
static inline bool workspace_holds(const struct workspace *workspace, size_t bytes)
{
    return bytes <= (workspace ? workspace->size : 0);
}

static inline CUdeviceptr workspace_address(const struct workspace *workspace)
{
    return workspace ? workspace->address : 0;
}

/* Extends the workspace to at least `bytes`, at most WORKSPACE_MOST, by mapping a piece behind it.
 * Returns the new size, for workspace_grown. 0: the job has failed, and the workspace has the size
 * that it had. */
uint64_t workspace_grow(struct job *job, struct workspace *workspace, uint64_t bytes);
/* Notes that the job has mapped `size` bytes of it. */
static inline void workspace_grown(struct workspace *workspace, uint64_t size)
{
    workspace->address = workspace->reserved;
    workspace->size = size;
}

/* Frees a workspace, with which the device has finished. NULL is fine. */
void workspace_free(struct workspace *workspace);

#endif

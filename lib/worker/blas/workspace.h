/*
 * workspace.h - device memory for algorithms that compute in parts; see workspace.c.
 */
#ifndef GS_WORKER_BLAS_WORKSPACE_H
#define GS_WORKER_BLAS_WORKSPACE_H

#include <stdbool.h>

#include "worker/driver/driver.h"

#define WORKSPACE_BYTES (32u << 20) /* as cuBLAS takes on this generation of devices by itself */

struct workspace {
    CUdeviceptr at;
    CUevent end;     /* of the last product that had it */
    CUstream stream; /* of that product, to compare; it may be gone */
    bool busy;
};

/* Makes them, if none has. False: there is no device memory for a single one. At a quiet moment. */
bool workspaces_make(void);
/* The address of one, for a call that is not run. */
CUdeviceptr workspace_any(void);
/* Takes one for the next call in the stream, which waits for the product that had it last. Main
 * lane. */
CUresult workspace_take(CUstream stream, struct workspace **workspace);
/* After that call. Main lane. */
CUresult workspace_give(struct workspace *workspace, CUstream stream);

#endif

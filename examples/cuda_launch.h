/*
 * cuda_launch.h - kernel<<<grid, block, shared>>>(...) through gshare.
 *
 * A compiler turns such a call, and the kernels of a .cu file, into calls of a few functions of the
 * CUDA runtime. cuda_launch.c has these functions; link it where libcudart would stand. Launches go
 * to the default stream of one session. For a program's main thread; 64 kernels and 64 variables at
 * most. Other calls of the CUDA runtime (cudaMalloc ...) are not here: gshare.h has its own.
 */
#ifndef CUDA_LAUNCH_H
#define CUDA_LAUNCH_H

#include "gshare.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the program's kernels into the session, and launches there from now on. The status is of
 * gs_module_load or gs_kernel_get. */
gs_status cuda_launch_use(gs_session session);
/* Address and size of a __device__ or __constant__ variable: cuda_launch_variable(&table, ...).
 * GS_ERR_NOT_FOUND: the program has no such variable. */
gs_status cuda_launch_variable(const void *variable, gs_devptr *ptr, size_t *size);
/* The status of the first launch that failed since the last call, GS_OK when none did. */
gs_status cuda_launch_status(void);

#ifdef __cplusplus
}
#endif
#endif

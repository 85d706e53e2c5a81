/*
 * cuda_launch.h - kernel<<<grid, block, shared>>>(...) through gshare.
 *
 * A compiler turns such a call, and the kernels of a .cu file, into calls of a few functions of the
 * CUDA runtime. cuda_launch.c has these functions; link it where libcudart would stand. Launches go
 * to the default stream of one session. For a program's main thread; 64 kernels at most.
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
/* The status of the first launch that failed since the last call, GS_OK when none did. */
gs_status cuda_launch_status(void);

#ifdef __cplusplus
}
#endif
#endif

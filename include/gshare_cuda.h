/*
 * gshare_cuda.h - a CUDA program that runs as a tenant by libgshare_cudart, and the session below
 * it. cuda* and gs_* calls mix freely: device pointers are the same for both, and each frees what
 * it has allocated.
 */
#ifndef GSHARE_CUDA_H
#define GSHARE_CUDA_H

#include "gshare.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* a cudaStream_t */

/* Attaches with these parameters, instead of the environment's defaults with which the first cuda*
 * call would. Statuses as gs_attach. GS_ERR_INVALID_VALUE: the process has attached already. */
GS_API gs_status gs_cuda_attach(const gs_attach_params *params);
/* The session of this thread's cuda* calls on its current device, attached if it was not. It ends
 * by cudaDeviceReset, not by gs_detach. GS_ERR_INVALID_VALUE: session is NULL; else as gs_attach.
 */
GS_API gs_status gs_cuda_session(gs_session *session);

/* gs_gemm in a stream of cuda* calls, with the order that it keeps with other streams; one that
 * captures takes it as a kernel's node. Statuses as gs_gemm, and GS_ERR_NOT_SUPPORTED where the
 * capture has failed. */
GS_API gs_status gs_cuda_gemm(const gs_gemm_params *params, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
#endif

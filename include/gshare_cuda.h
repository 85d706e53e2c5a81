/*
 * gshare_cuda.h - the session of a CUDA program that runs as a tenant by libgshare_cudart. A
 * program may mix cuda* and gs_* calls: device pointers are the same for both. Memory is freed by
 * the calls that allocated it.
 */
#ifndef GSHARE_CUDA_H
#define GSHARE_CUDA_H

#include "gshare.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* a cudaStream_t */

/* Attaches the process with these parameters. Without it the process attaches at its first cuda*
 * call, with the defaults and the variables of the environment. Blocks as gs_attach does. Statuses
 * as gs_attach, and GS_ERR_INVALID_VALUE: the process has attached already. */
GS_API gs_status gs_cuda_attach(const gs_attach_params *params);
/* Gives the session of this thread's current device, and attaches it if it is not attached yet;
 * then it blocks as gs_attach does. The session ends by cudaDeviceReset; do not call gs_detach.
 * Statuses as gs_attach, and GS_ERR_INVALID_VALUE: session is NULL. */
GS_API gs_status gs_cuda_session(gs_session *session);

/* Gives a product to a stream of cuda* calls as gs_gemm does to a gs_stream, in the order that the
 * stream keeps with others. While the stream captures, the product becomes a node of the graph, as
 * a kernel does. Blocks as gs_gemm does. Statuses as gs_gemm, and GS_ERR_NOT_SUPPORTED: the capture
 * has failed. */
GS_API gs_status gs_cuda_gemm(const gs_gemm_params *params, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
#endif

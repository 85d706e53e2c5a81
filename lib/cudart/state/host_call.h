/* host_call.h - host functions in a stream's order, which a thread of libgshare's calls. */
#ifndef GS_CUDART_HOST_CALL_H
#define GS_CUDART_HOST_CALL_H

#include "cudart/abi.h"
#include "cudart/state/stream.h"

/* Not called when the session ends before. */
cudaError_t host_call_launch(struct stream *stream, cudaHostFn_t call, void *data);
/* Called with the session's error then. */
cudaError_t host_call_add(struct stream *stream, cudaStream_t handle, cudaStreamCallback_t call,
                          void *data);

#endif

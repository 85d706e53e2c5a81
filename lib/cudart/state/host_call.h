/* host_call.h - host functions in a stream's order, which a thread of libgshare calls. */
#ifndef GS_CUDART_HOST_CALL_H
#define GS_CUDART_HOST_CALL_H

#include "cudart/abi.h"
#include "cudart/state/stream.h"

/* Adds a function. It is not called if the session ends earlier. */
cudaError_t host_call_launch(struct stream *stream, cudaHostFn_t call, void *data);
/* Adds a callback. It is called with the session's error if the session ends earlier. */
cudaError_t host_call_add(struct stream *stream, cudaStream_t handle, cudaStreamCallback_t call,
                          void *data);

#endif

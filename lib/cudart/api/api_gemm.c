/* api_gemm.c - products of matrices, of gshare_cuda.h. */
#include "gshare_cuda.h"

#include "cudart/graph/capture.h"
#include "cudart/state/managed.h"
#include "cudart/state/stream.h"

GS_API gs_status gs_cuda_gemm(const gs_gemm_params *params, cudaStream_t handle)
{
    struct stream *stream;
    gs_status status;
    bool held;

    if (stream_find(handle, false, &stream) != cudaSuccess)
        return GS_ERR_INVALID_HANDLE;
    if (stream_capturing(stream) || capture_forbids_legacy(stream) != cudaSuccess)
        return GS_ERR_NOT_SUPPORTED;
    if (managed_work_begin(&held) != cudaSuccess)
        return GS_ERR_DRIVER;
    status = stream_enter(stream);
    if (status == GS_OK)
        status = gs_gemm(device_session(), params, stream->handle);
    managed_work_end(held);
    if (status == GS_OK)
        stream_leave(stream);
    return status;
}

/* api_gemm.c - gs_cuda_gemm of gshare_cuda.h: a product of matrices on a stream. */
#include "gshare_cuda.h"

#include "cudart/graph/capture.h"
#include "cudart/state/product.h"

/* The server is asked when the product is captured, so that a launch of the graph waits for
 * nothing. */
static gs_status product_capture(struct stream *stream, const gs_gemm_params *params)
{
    struct op op;
    gs_status status = gs_gemm_prepare(device_session(), params);

    if (status != GS_OK)
        return status;
    if (op_product(&op, params) != cudaSuccess)
        return GS_ERR_NO_MEMORY;
    return capture_op(stream, &op) == cudaSuccess ? GS_OK : GS_ERR_NOT_SUPPORTED;
}

GS_API gs_status gs_cuda_gemm(const gs_gemm_params *params, cudaStream_t handle)
{
    struct stream *stream;

    if (stream_find(handle, false, &stream) != cudaSuccess)
        return GS_ERR_INVALID_HANDLE;
    if (capture_forbids_legacy(stream) != cudaSuccess)
        return GS_ERR_NOT_SUPPORTED;
    return stream_capturing(stream) ? product_capture(stream, params)
                                    : product_issue(stream, params);
}

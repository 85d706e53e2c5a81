/* product.c - see product.h. */
#include "cudart/state/product.h"

#include "cudart/state/managed.h"

gs_status product_issue(struct stream *stream, const gs_gemm_params *params)
{
    gs_status status;
    bool held;

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

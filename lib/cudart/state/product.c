/* product.c - see product.h. */
#include "cudart/state/product.h"

#include "cudart/state/managed.h"

gs_status product_issue(struct stream *stream, const gs_gemm_params *params)
{
    bool held;
    gs_status status = managed_work_begin(&held);

    if (status != GS_OK)
        return status;
    status = stream_enter(stream);
    if (status == GS_OK)
        status = gs_gemm(device_session(), params, stream->handle);
    managed_work_end(held);
    if (status == GS_OK)
        stream_leave(stream);
    return status;
}

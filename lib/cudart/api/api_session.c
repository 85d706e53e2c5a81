/* api_session.c - gs_cuda_attach and gs_cuda_session of gshare_cuda.h. */
#include "gshare_cuda.h"

#include "cudart/state/device.h"

GS_API gs_status gs_cuda_attach(const gs_attach_params *params)
{
    return device_attach(params);
}

GS_API gs_status gs_cuda_session(gs_session *session)
{
    gs_status status = GS_OK;

    if (session == NULL)
        return GS_ERR_INVALID_VALUE;
    if (device_count() == 0)
        status = device_attach(NULL);
    if (device_count() == 0) /* otherwise another thread has attached first */
        return status;
    if (device_use() != cudaSuccess)
        return GS_ERR_NO_DEVICE;
    *session = device_session();
    return GS_OK;
}

/* api_session.c - gshare_cuda.h. */
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
    device_enter(device_current());
    if (device_session() == NULL)
        status = device_count() == 0 ? device_attach(NULL) : GS_OK;
    if (status == GS_OK && device_session() == NULL && device_use() != cudaSuccess)
        status = GS_ERR_NO_DEVICE;
    if (device_session() == NULL)
        return status;
    *session = device_session();
    return GS_OK;
}

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
    if (device_session() == NULL)
        status = device_attach(NULL);
    if (device_session() == NULL)
        return status;
    *session = device_session();
    return GS_OK;
}

/* api_error.c - statuses as text, the thread's last message, the version. */
#include "client/base/error.h"
#include "common/status.h"

const char *gs_strerror(gs_status status)
{
    return status_text(status);
}

const char *gs_status_name(gs_status status)
{
    return status_name(status);
}

const char *gs_last_error_message(void)
{
    return error_last();
}

gs_status gs_version(unsigned *version)
{
    if (!version)
        return error_set(GS_ERR_INVALID_VALUE, "version is NULL");
    *version = GS_VERSION;
    return GS_OK;
}

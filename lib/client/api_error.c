/*
 * api_error.c - statuses as text, the thread's last message, the version.
 *
 * The message buffer is ordinary thread-local memory and not of the initial-exec kind: 4 KiB a
 * thread would use up what the loader keeps for libraries that are loaded by dlopen.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client/error.h"
#include "common/status.h"

static _Thread_local char last_message[ERROR_MESSAGE_MAX];

gs_status error_set(gs_status status, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(last_message, sizeof(last_message), format, ap);
    va_end(ap);
    return status;
}

gs_status error_system(const char *what)
{
    int error = errno;
    gs_status status = error == ENOMEM || error == EMFILE || error == ENFILE || error == ENOSPC
                           ? GS_ERR_NO_MEMORY
                           : GS_ERR_SYSTEM;
    char text[128];

    return error_set(status, "%s: %s", what, strerror_r(error, text, sizeof(text)));
}

void error_keep(char kept[ERROR_MESSAGE_MAX])
{
    memcpy(kept, last_message, ERROR_MESSAGE_MAX);
}

gs_status error_server(gs_status status, const char *message)
{
    return error_set(status, "%s", *message ? message : status_text(status));
}

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
    return last_message;
}

gs_status gs_version(unsigned *version)
{
    if (!version)
        return error_set(GS_ERR_INVALID_VALUE, "version is NULL");
    *version = GS_VERSION;
    return GS_OK;
}

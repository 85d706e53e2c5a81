/*
 * error.c - see error.h.
 *
 * The message buffer is ordinary thread-local memory and not of the initial-exec kind: 4 KiB a
 * thread would use up what the loader keeps for libraries that are loaded by dlopen.
 */
#include "client/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

const char *error_last(void)
{
    return last_message;
}

void error_keep(char kept[ERROR_MESSAGE_MAX])
{
    memcpy(kept, last_message, ERROR_MESSAGE_MAX);
}

gs_status error_server(gs_status status, const char *message)
{
    return error_set(status, "%s", *message ? message : status_text(status));
}

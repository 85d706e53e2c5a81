/* refusal.c - see refusal.h. */
#include "server/base/refusal.h"

#include <stdarg.h>
#include <stdio.h>

gs_status refusal(char text[REFUSAL_TEXT_MAX], gs_status status, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, REFUSAL_TEXT_MAX, format, ap);
    va_end(ap);
    return status;
}

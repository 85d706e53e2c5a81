/* report.c - see report.h. A line is one write(). */
#include "cudart/base/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "libgshare_cudart: "

static void report_line(const char *format, va_list args)
{
    char line[1024] = PREFIX;
    size_t used = sizeof(PREFIX) - 1;
    int length = vsnprintf(line + used, sizeof(line) - used - 1, format, args);

    if (length < 0)
        return;
    used += (size_t)length < sizeof(line) - used - 1 ? (size_t)length : sizeof(line) - used - 2;
    line[used++] = '\n';
    if (write(STDERR_FILENO, line, used) < 0)
        return;
}

void report_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report_line(format, args);
    va_end(args);
}

void report_debug(const char *format, ...)
{
    const char *level = getenv("GSHARE_LOG");
    va_list args;

    if (level == NULL || strcmp(level, "debug") != 0)
        return;
    va_start(args, format);
    report_line(format, args);
    va_end(args);
}

/* report.c - see report.h. A line is one write(). */
#include "cudart/base/report.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "libgshare_cudart: "

#define SAID_MAX 64u

/* Hashes of the lines that report_once has written; if there are more than SAID_MAX, of the newest.
 */
static pthread_mutex_t said_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t said[SAID_MAX];
static unsigned said_count;

/* FNV-1a. */
static bool said_before(const char *line, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u;
    bool found = false;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)line[i]) * 0x100000001b3u;
    pthread_mutex_lock(&said_lock);
    for (unsigned i = 0; i < SAID_MAX && !found; i++)
        found = said[i] == hash;
    if (!found)
        said[said_count++ % SAID_MAX] = hash;
    pthread_mutex_unlock(&said_lock);
    return found;
}

static void report_line(bool once, const char *format, va_list args)
{
    char line[1024] = PREFIX;
    size_t used = sizeof(PREFIX) - 1;
    int length = vsnprintf(line + used, sizeof(line) - used - 1, format, args);

    if (length < 0)
        return;
    used += (size_t)length < sizeof(line) - used - 1 ? (size_t)length : sizeof(line) - used - 2;
    line[used++] = '\n';
    if (once && said_before(line, used))
        return;
    if (write(STDERR_FILENO, line, used) < 0)
        return;
}

void report_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report_line(false, format, args);
    va_end(args);
}

void report_once(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report_line(true, format, args);
    va_end(args);
}

static bool debug_wanted(void)
{
    const char *level = getenv("GSHARE_LOG");

    return level != NULL && strcmp(level, "debug") == 0;
}

void report_debug(const char *format, ...)
{
    va_list args;

    if (!debug_wanted())
        return;
    va_start(args, format);
    report_line(false, format, args);
    va_end(args);
}

void report_debug_once(const char *format, ...)
{
    va_list args;

    if (!debug_wanted())
        return;
    va_start(args, format);
    report_line(true, format, args);
    va_end(args);
}

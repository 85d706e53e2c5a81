/* log.c - see log.h. */
#include "common/log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/log_event.h"

static struct {
    const char *who;
    enum log_level level;
    bool journal;
    _Atomic int also;      /* descriptor that gets warnings as well; -1: none */
    pid_t pid;             /* process number put into lines; 0: this process's */
    _Atomic unsigned lost; /* lines that could not be written without a wait */
} logger = {"gshare", LOG_LEVEL_INFO, false, -1, 0, 0};

static bool level_parse(const char *name, enum log_level *level)
{
    static const struct {
        const char *name;
        enum log_level level;
    } names[] = {{"error", LOG_LEVEL_ERROR},
                 {"warning", LOG_LEVEL_WARNING},
                 {"info", LOG_LEVEL_INFO},
                 {"debug", LOG_LEVEL_DEBUG}};

    for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++) {
        if (!strcmp(name, names[i].name)) {
            *level = names[i].level;
            return true;
        }
    }
    return false;
}

void log_init(const char *who, const char *level_name)
{
    logger.who = who;
    logger.journal = getenv("JOURNAL_STREAM") != NULL;
    if (!level_parse(level_name, &logger.level) &&
        !level_parse(getenv("GSHARE_LOG"), &logger.level))
        logger.level = LOG_LEVEL_INFO;
}

void log_as(pid_t pid)
{
    logger.pid = pid;
}

void log_warnings_also(int fd)
{
    atomic_store_explicit(&logger.also, fd, memory_order_relaxed);
}

/* Prints date, time and zone in the format of RFC 3339. Returns the length. */
static size_t time_print(char *line, size_t size)
{
    struct timespec now;
    struct tm tm;

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &tm);
    const long minutes = tm.tm_gmtoff / 60, offset = minutes < 0 ? -minutes : minutes;
    return (size_t)snprintf(line, size, "%04d-%02d-%02dT%02d:%02d:%02d.%03ld%c%02ld:%02ld ",
                            tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
                            tm.tm_sec, now.tv_nsec / 1000000, minutes < 0 ? '-' : '+', offset / 60,
                            offset % 60);
}

/* Returns whether fd takes a line without a wait. A stopped terminal (Ctrl-S), or a pipe or journal
 * that nobody reads, would block the caller, and with it every tenant. */
static bool writable(int fd)
{
    struct pollfd log = {.fd = fd, .events = POLLOUT};

    return poll(&log, 1, 0) != 0;
}

static void line_put(enum log_level level, const char *text)
{
    char line[1024];
    int also = atomic_load_explicit(&logger.also, memory_order_relaxed);
    size_t n = 0, start;
    ssize_t written;

    if (logger.journal)
        n += (size_t)snprintf(line, sizeof(line), "<%d>", (int)level);
    else
        n += time_print(line, sizeof(line));
    n += (size_t)snprintf(line + n, sizeof(line) - n, "%s[%d] ", logger.who,
                          (int)(logger.pid ? logger.pid : getpid()));
    start = n;
    int body = snprintf(line + n, sizeof(line) - n, "%s", text);
    if (body > 0)
        n = n + (size_t)body < sizeof(line) - 1 ? n + (size_t)body : sizeof(line) - 2;
    line[n++] = '\n';
    /* A log line that cannot be written is dropped: there is nowhere to report it. */
    written = write(STDERR_FILENO, line, n);
    if (also >= 0 && level == LOG_LEVEL_WARNING)
        written = write(also, line + start, n - start);
    (void)written;
}

static void lost_tell(unsigned lost)
{
    struct log_event event = log_event_begin("lines-lost");

    log_event_number(&event, "lines", lost);
    log_event_text(&event, "reason", "nobody read the log");
    line_put(LOG_LEVEL_WARNING, event.text);
}

static void line_write(enum log_level level, const char *text)
{
    int saved = errno; /* callers may log first and read errno afterwards */
    bool there = writable(STDERR_FILENO);
    const unsigned lost =
        there ? atomic_exchange_explicit(&logger.lost, 0, memory_order_relaxed) : 0;

    if (lost) {
        lost_tell(lost);
        there = writable(STDERR_FILENO);
    }
    if (there)
        line_put(level, text);
    else
        atomic_fetch_add_explicit(&logger.lost, 1, memory_order_relaxed);
    errno = saved;
}

void log_event_write(const struct log_event *event, enum log_level level)
{
    if (level <= logger.level)
        line_write(level, event->text);
}

void log_keys(enum log_level level, const char *format, ...)
{
    struct log_event event = {.length = 0};
    va_list ap;

    va_start(ap, format);
    log_event_print(&event, format, ap);
    va_end(ap);
    log_event_write(&event, level);
}

void log_debug(const char *format, ...)
{
    char text[900];
    va_list ap;

    if (logger.level < LOG_LEVEL_DEBUG)
        return;
    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    line_write(LOG_LEVEL_DEBUG, text);
}

/*
 * log.h - writes one line to stderr per event, for an operator, with date, time and zone. Any
 * thread. A line is one write(), and is dropped if that would wait for a reader. The levels are
 * syslog's. If JOURNAL_STREAM is set, each line begins with "<N>", as systemd expects. Lines for an
 * operator have the form "event=KIND key=value ..." (common/log_event.h), which `test/messages`
 * checks; debug lines are free text.
 */
#ifndef GS_COMMON_LOG_H
#define GS_COMMON_LOG_H

#include <sys/types.h>

enum log_level {
    LOG_LEVEL_ERROR = 3,
    LOG_LEVEL_WARNING = 4,
    LOG_LEVEL_INFO = 6,
    LOG_LEVEL_DEBUG = 7
};

/* who: prefix of each line; the log keeps the pointer. level_name: "error", "warning", "info" or
 * "debug"; otherwise $GSHARE_LOG names the level, and "info" is the default. Call it before threads
 * start. */
void log_init(const char *who, const char *level_name);
/* Puts `pid` instead of the writer's own into the lines of this process and of those that it forks.
 * Call it before threads start. */
void log_as(pid_t pid);
/* Writes warnings, without their prefix, to fd as well, so that the process that starts this
 * program and waits for it can show them. -1 stops that. */
void log_warnings_also(int fd);
struct log_event;
void log_event_write(const struct log_event *event, enum log_level level);
/* Writes a line whose format is log_event_print's. */
void log_keys(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define log_error(...)   log_keys(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_keys(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_keys(LOG_LEVEL_INFO, __VA_ARGS__)

#endif

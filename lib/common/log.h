/*
 * log.h - one line to stderr per event, for an operator. Any thread; a line is one write().
 * Levels as syslog's; with JOURNAL_STREAM set each line begins with "<N>", as systemd expects.
 */
#ifndef GS_COMMON_LOG_H
#define GS_COMMON_LOG_H

enum log_level {
    LOG_LEVEL_ERROR = 3,
    LOG_LEVEL_WARNING = 4,
    LOG_LEVEL_INFO = 6,
    LOG_LEVEL_DEBUG = 7
};

/* who: prefix of each line, kept by pointer. level_name: "error", "warning", "info", "debug"; NULL
 * or anything else: $GSHARE_LOG, and "info" without it. Call before threads start. */
void log_init(const char *who, const char *level_name);
/* Warnings, without what stands before them, go there too: for who starts the program and waits.
 * -1: no more. */
void log_warnings_also(int fd);
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...)   log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif

/*
 * log_event.h - builds the log's lines: "event=KIND key=value ...", one line for each event. A
 * value that is empty or has a space, a quote, '=', a backslash or a control character is quoted,
 * with a backslash before quotes and backslashes, and '?' for control characters. Any thread.
 */
#ifndef GS_COMMON_LOG_EVENT_H
#define GS_COMMON_LOG_EVENT_H

#include <stdarg.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/log.h"
#include "common/wire_segment.h"

struct log_event {
    char text[900];
    size_t length;
};

struct log_event log_event_begin(const char *kind);
/* The functions below add to an event. Text beyond its size is cut off. */
void log_event_text(struct log_event *event, const char *key, const char *value);
void log_event_number(struct log_event *event, const char *key, uint64_t value);
/* Adds a limit as `gsctl set` takes it: "8G"; 0: "none". */
void log_event_size(struct log_event *event, const char *key, uint64_t bytes);
/* Adds a time in seconds, with milliseconds. */
void log_event_seconds(struct log_event *event, const char *key, uint64_t ns);
/* Returns the user's name in /etc/passwd, or the uid as a number. Other user databases, which may
 * block, are not asked. The thread caches the name; the pointer is valid until the thread asks for
 * another user. */
const char *log_user_name(uid_t uid);
/* Adds "key=NAME"; if the key is "user", also uid=N. */
void log_event_user(struct log_event *event, const char *key, uid_t uid);
/* Adds a fault's launch and address, if known, and the counts of lost work. */
void log_event_fault(struct log_event *event, const struct seg_fault *fault);
/* Adds "event=KIND key=value ..." by a format of printf. A %s is a value, which gets the quotes
 * that it needs, or is part of one that the format quotes: reason=\"starting: %s\". Conversions are
 * %s, %.1f, %d and %u, with l, ll or z. */
void log_event_print(struct log_event *event, const char *format, va_list ap)
    __attribute__((format(printf, 2, 0)));

#endif

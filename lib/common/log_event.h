/*
 * log_event.h - what happens, to whom, and by whom, as lines of the log: "event=KIND key=value
 * ...", one line an event. A value that has a space, a quote, '=' or a backslash, or is empty,
 * stands in quotes, with a backslash before quotes and backslashes, and '?' for control characters.
 * Any thread.
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
/* What does not fit is left out. */
void log_event_text(struct log_event *event, const char *key, const char *value);
void log_event_number(struct log_event *event, const char *key, uint64_t value);
/* Of a limit, as gsctl set takes it: "8G"; 0: "none". */
void log_event_size(struct log_event *event, const char *key, uint64_t bytes);
/* In seconds, with milliseconds. */
void log_event_seconds(struct log_event *event, const char *key, uint64_t ns);
/* The user's name in /etc/passwd, or the number; no other user database is asked, which would take
 * its time. The file is read for each new user. It stays until the thread asks for another one. */
const char *log_user_name(uid_t uid);
/* "key=NAME", and after "user" also uid=N. */
void log_event_user(struct log_event *event, const char *key, uid_t uid);
/* Of a fault: launch and address where they are known, and what is lost. */
void log_event_fault(struct log_event *event, const struct seg_fault *fault);
/* Adds "event=KIND key=value ..." by a format of printf. A %s is a value, which gets the quotes
 * that it needs, or is part of one that the format quotes: reason=\"starting: %s\". Conversions are
 * %s, %.1f, %d and %u, with l, ll or z. */
void log_event_print(struct log_event *event, const char *format, va_list ap)
    __attribute__((format(printf, 2, 0)));

#endif

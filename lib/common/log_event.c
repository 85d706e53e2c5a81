/* log_event.c - see log_event.h. */
#include "common/log_event.h"

#include <assert.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/size_text.h"

static void __attribute__((format(printf, 2, 3)))
add(struct log_event *event, const char *format, ...)
{
    size_t room = sizeof(event->text) - event->length;
    va_list ap;

    va_start(ap, format);
    int n = vsnprintf(event->text + event->length, room, format, ap);
    va_end(ap);
    if (n > 0)
        event->length += (size_t)n < room ? (size_t)n : room - 1;
}

struct log_event log_event_begin(const char *kind)
{
    struct log_event event = {.length = 0};

    add(&event, "event=%s", kind);
    return event;
}

static void escaped_add(struct log_event *event, const char *value)
{
    for (; *value; value++) {
        const unsigned char c = (unsigned char)*value;
        if (c < ' ' || c == 0x7f)
            add(event, "?");
        else
            add(event, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
}

static void value_add(struct log_event *event, const char *value)
{
    bool plain = *value;

    for (const char *c = value; *c; c++)
        plain = plain && (unsigned char)*c > ' ' && *c != 0x7f && !strchr("\"=\\", *c);
    if (plain) {
        add(event, "%s", value);
        return;
    }
    add(event, "\"");
    escaped_add(event, value);
    add(event, "\"");
}

void log_event_text(struct log_event *event, const char *key, const char *value)
{
    add(event, " %s=", key);
    value_add(event, value);
}

static_assert(sizeof(long) == sizeof(long long) && sizeof(long) == sizeof(size_t),
              "one wide integer");

void log_event_print(struct log_event *event, const char *format, va_list ap)
{
    bool quoted = false;

    for (; *format; format++) {
        if (*format != '%') {
            quoted ^= *format == '"';
            add(event, "%c", *format);
            continue;
        }
        const size_t length = strcspn(format, "sduf");
        const bool wide = format[length - 1] == 'l' || format[length - 1] == 'z';
        format += length;
        if (*format == 's' && quoted)
            escaped_add(event, va_arg(ap, const char *));
        else if (*format == 's')
            value_add(event, va_arg(ap, const char *));
        else if (*format == 'f')
            add(event, "%.1f", va_arg(ap, double));
        else if (*format == 'd')
            add(event, "%ld", wide ? va_arg(ap, long) : va_arg(ap, int));
        else
            add(event, "%lu", wide ? va_arg(ap, unsigned long) : va_arg(ap, unsigned));
    }
}

void log_event_number(struct log_event *event, const char *key, uint64_t value)
{
    add(event, " %s=%" PRIu64, key, value);
}

void log_event_size(struct log_event *event, const char *key, uint64_t bytes)
{
    char size[SIZE_TEXT_MAX];

    add(event, " %s=%s", key, bytes ? size_option(size, bytes) : "none");
}

void log_event_seconds(struct log_event *event, const char *key, uint64_t ns)
{
    add(event, " %s=%" PRIu64 ".%03u", key, ns / 1000000000u, (unsigned)(ns / 1000000u % 1000u));
}

/* ---- Users ----------------------------------------------------------------------------------- */

/* Users that this thread has looked up, each at the index of its uid. */
#define NAMES 64u
static _Thread_local struct {
    bool known;
    uid_t uid;
    char name[33];
} names[NAMES];

const char *log_user_name(uid_t uid)
{
    struct passwd entry, *user;
    char line[1024]; /* a longer one ends the search */
    FILE *file;

    if (names[uid % NAMES].known && names[uid % NAMES].uid == uid)
        return names[uid % NAMES].name;
    names[uid % NAMES].known = true;
    names[uid % NAMES].uid = uid;
    snprintf(names[uid % NAMES].name, sizeof(names[0].name), "%u", (unsigned)uid);
    file = fopen("/etc/passwd", "re");
    /* fgetpwent would return memory that all threads share. */
    while (file && !fgetpwent_r(file, &entry, line, sizeof(line), &user)) {
        if (user->pw_uid != uid)
            continue;
        snprintf(names[uid % NAMES].name, sizeof(names[0].name), "%s", user->pw_name);
        break;
    }
    if (file)
        fclose(file);
    return names[uid % NAMES].name;
}

void log_event_user(struct log_event *event, const char *key, uid_t uid)
{
    log_event_text(event, key, log_user_name(uid));
    if (!strcmp(key, "user"))
        log_event_number(event, "uid", uid);
}

void log_event_fault(struct log_event *event, const struct seg_fault *fault)
{
    if (fault->launch) {
        log_event_number(event, "stream", fault->stream);
        log_event_number(event, "launch", fault->launch);
        if (fault->launch_more)
            log_event_number(event, "launch_last", fault->launch + fault->launch_more);
    }
    if (fault->address)
        add(event, " address=0x%" PRIx64, fault->address);
    log_event_number(event, "lost_launches", fault->lost_launches);
    log_event_number(event, "lost_copies", fault->lost_copies);
    log_event_number(event, "lost_bytes", fault->lost_bytes);
}

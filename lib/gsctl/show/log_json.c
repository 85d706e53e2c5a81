/*
 * log_json.c - lines of the server's log as JSON: see log_json.h. A line is
 * "TIME PROGRAM[PID] event=KIND key=value ..." (common/log_event.h), or has words after the pid
 * instead, which become "message".
 */
#include "gsctl/show/log_json.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "gsctl/base/json.h"

/* Returns whether the key's value is text even if it looks like a number: a chosen name, a person,
 * or a reason. */
static bool key_is_text(const char *key)
{
    static const char *const keys[] = {"name",    "user",        "by",     "for",
                                       "kernel",  "file",        "server", "folder",
                                       "program", "reservation", "reason"};

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        if (!strcmp(key, keys[i]))
            return true;
    }
    return false;
}

/* Returns whether the value is a number in JSON's form: digits, with or without a fraction. */
static bool is_number(const char *value)
{
    const char *c = value + (*value == '-');

    if (!isdigit((unsigned char)*c) || (*c == '0' && isdigit((unsigned char)c[1])))
        return false;
    while (isdigit((unsigned char)*c))
        c++;
    if (*c == '.' && isdigit((unsigned char)c[1])) {
        for (c++; isdigit((unsigned char)*c);)
            c++;
    }
    return !*c;
}

/* Cuts off the value at *at, which ends at a blank or the line's end, and removes its quotes and
 * backslashes. *at then points behind it. Sets *quoted if the value was quoted. */
static char *value_cut(char **at, bool *quoted)
{
    char *value = *at, *to = value, *from = value;

    *quoted = *from == '"';
    for (from += *quoted; *from && *from != (*quoted ? '"' : ' '); from++) {
        if (*quoted && *from == '\\' && from[1])
            from++;
        *to++ = *from;
    }
    from += *quoted && *from == '"';
    *at = from + strspn(from, " ");
    *to = 0;
    return value;
}

/* Prints the members "key=value key=value ...". */
static void pairs_print(char *at)
{
    while (*at) {
        char *equals = at + strcspn(at, "= ");
        const char *key = at, *value;
        bool quoted;

        if (*equals != '=') { /* the line was cut */
            json_text("rest", at);
            return;
        }
        *equals = 0;
        at = equals + 1;
        /* The unquoted value begins at its first quote at the earliest, so the key before it stays
         * intact. */
        value = value_cut(&at, &quoted);
        if (!quoted && !key_is_text(key) && is_number(value))
            json_figure(key, value);
        else
            json_text(key, value);
    }
}

/* Prints "PROGRAM[PID] " as members and returns the rest of the line; the whole line if it does not
 * begin in that form. */
static char *program_print(char *line)
{
    char *open = line + strcspn(line, " ["), *end;
    unsigned long pid;

    if (*open != '[' || open == line || !isdigit((unsigned char)open[1]))
        return line;
    pid = strtoul(open + 1, &end, 10);
    if (strncmp(end, "] ", 2) != 0)
        return line;
    *open = 0;
    json_text("program", line);
    json_number("process", pid);
    return end + 2;
}

/* Prints the time with "+hh:mm", where journalctl writes "+hhmm". */
static void time_print(const char *time)
{
    const size_t length = strlen(time);
    char text[64];

    if (length > 5 && (time[length - 5] == '+' || time[length - 5] == '-'))
        snprintf(text, sizeof(text), "%.*s:%.2s", (int)length - 2, time, time + length - 2);
    else
        snprintf(text, sizeof(text), "%.60s", time);
    json_text("time", text);
}

static bool begins_with_time(const char *line)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd";

    for (size_t i = 0; form[i]; i++) {
        if (form[i] == 'd' ? !isdigit((unsigned char)line[i]) : line[i] != form[i])
            return false;
    }
    return true;
}

/* Prints one line, and changes its text. */
static void log_json_line(char *line, bool of_journal)
{
    char *blank = strchr(line, ' ');

    /* Skips journalctl's own lines, such as "-- Boot ... --". */
    if (!*line || (of_journal && !begins_with_time(line)))
        return;
    json_open(NULL, '{');
    if (blank && begins_with_time(line)) {
        *blank = 0;
        time_print(line);
        line = blank + 1;
    }
    /* The journal puts "HOST NAME[PID]: " before the line as it was written. */
    if (of_journal && strstr(line, "]: "))
        line = strstr(line, "]: ") + 3;
    line = program_print(line);
    if (!strncmp(line, "event=", 6))
        pairs_print(line);
    else
        json_text("message", line);
    json_close('}');
}

void log_json_bytes(struct log_json *json, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != '\n') {
            if (json->length + 1 < sizeof(json->line) && bytes[i])
                json->line[json->length++] = bytes[i];
            continue;
        }
        json->line[json->length] = 0;
        json->length = 0;
        log_json_line(json->line, json->of_journal);
    }
}

/*
 * json.c - see json.h. Well-formed UTF-8 is printed as it is; any other byte becomes U+FFFD, so
 * that the output always parses.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "gsctl/base/format.h"
#include "gsctl/base/json.h"

/* The next item is the first of its level, so no comma precedes it. */
static bool first = true;
static unsigned depth; /* number of open brackets */

/* RFC 3629, section 4. */
size_t utf8_length(const unsigned char *s)
{
    unsigned char low = 0x80, high = 0xbf;
    size_t length;

    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf)
        length = 2;
    else if (s[0] >= 0xe0 && s[0] <= 0xef)
        length = 3;
    else if (s[0] >= 0xf0 && s[0] <= 0xf4)
        length = 4;
    else
        return 0;
    if (s[0] == 0xe0)
        low = 0xa0; /* no overlong form */
    else if (s[0] == 0xed)
        high = 0x9f; /* no surrogate */
    else if (s[0] == 0xf0)
        low = 0x90;
    else if (s[0] == 0xf4)
        high = 0x8f; /* nothing above U+10FFFF */
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if (s[i] < 0x80 || s[i] > 0xbf)
            return 0;
    }
    return length;
}

static void print_string(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;

    putchar('"');
    while (*s) {
        size_t length = utf8_length(s);

        if (length == 0)
            fputs("\\ufffd", stdout);
        else if (*s == '"' || *s == '\\')
            printf("\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            printf("\\u%04x", *s);
        else
            fwrite(s, 1, length, stdout);
        s += length ? length : 1;
    }
    putchar('"');
}

static void item_begin(const char *name)
{
    if (!first)
        putchar(',');
    first = false;
    if (name) {
        print_string(name);
        putchar(':');
    }
}

void json_open(const char *name, char bracket)
{
    item_begin(name);
    putchar(bracket);
    first = true;
    depth++;
}

void json_close(char bracket)
{
    putchar(bracket);
    first = --depth == 0; /* another document may follow */
    if (first)
        putchar('\n');
}

void json_text(const char *name, const char *text)
{
    item_begin(name);
    print_string(text);
}

void json_number(const char *name, uint64_t number)
{
    item_begin(name);
    printf("%" PRIu64, number);
}

void json_micros(const char *name, uint64_t ns)
{
    item_begin(name);
    printf("%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
}

void json_user(uint32_t uid)
{
    char user[FORMAT_MAX];

    json_text("user", format_user(user, uid));
    json_number("uid", uid);
}

void json_pid(const char *name, int32_t pid)
{
    item_begin(name);
    if (pid)
        printf("%" PRId32, pid);
    else
        fputs("null", stdout);
}

void json_figure(const char *name, const char *digits)
{
    item_begin(name);
    fputs(digits, stdout);
}

void json_integer(const char *name, int64_t number)
{
    item_begin(name);
    printf("%" PRId64, number);
}

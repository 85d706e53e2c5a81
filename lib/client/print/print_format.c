/* print_format.c - see print_format.h. */
#include "client/print/print_format.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/print_ring.h"

/* ---- Text ---- */

/* Makes room for `more` bytes and a NUL. */
static bool text_reserve(struct text *text, size_t more)
{
    size_t needed = text->size + more + 1, room = text->room ? text->room : 256;
    char *grown;

    if (text->failed || needed <= text->room)
        return !text->failed;
    while (room < needed)
        room *= 2;
    grown = realloc(text->bytes, room);
    if (!grown) {
        text->failed = true;
        return false;
    }
    text->bytes = grown;
    text->room = room;
    return true;
}

static void text_add(struct text *text, const char *bytes, size_t size)
{
    if (!text_reserve(text, size))
        return;
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
}

/* ---- The record's words ---- */

struct record {
    const unsigned char *at, *end;
};

static bool record_word(struct record *record, uint64_t *word)
{
    if (record->end - record->at < 8)
        return false;
    memcpy(word, record->at, 8);
    record->at += 8;
    return true;
}

static bool record_text(struct record *record, uint64_t bytes, const char **text)
{
    if (bytes > PRINT_TEXT_MAX || PRINT_PADDED(bytes) > (uint64_t)(record->end - record->at))
        return false;
    *text = (const char *)record->at;
    record->at += PRINT_PADDED(bytes);
    return true;
}

/* Reads a string after the word with its length. */
static bool record_string(struct record *record, const char **text, int *bytes)
{
    uint64_t length;

    if (!record_word(record, &length))
        return false;
    if (length == PRINT_NULL) {
        *text = "(null)";
        *bytes = 6;
        return true;
    }
    *bytes = (int)length;
    return record_text(record, length, text);
}

/* ---- printf ---- */

/* A conversion in the form for the C library: flags and letter as in the format, width and
 * precision as arguments. */
struct specification {
    char text[24];
    int width, precision; /* precision: negative means none */
};

static bool takes_precision(char letter)
{
    return letter != 'c' && letter != 'p';
}

static void specification_make(struct specification *spec, const struct print_conversion *c)
{
    static const char letters[] = "-+ #0";
    char *at = spec->text;

    *at++ = '%';
    for (const char *flag = letters; *flag; flag++) {
        if (c->flags & print_flag(*flag))
            *at++ = *flag;
    }
    *at++ = '*';
    if (takes_precision(c->letter)) {
        *at++ = '.';
        *at++ = '*';
    }
    if (c->bytes == 8 && strchr("diouxX", c->letter)) {
        *at++ = 'l';
        *at++ = 'l';
    }
    *at++ = c->letter;
    *at = '\0';
}

/* Determines a width or precision, which is the record's next argument if the format has '*'. */
static bool number_take(struct record *record, int given, int *number)
{
    uint64_t word;

    *number = given == PRINT_NOT_GIVEN ? 0 : given;
    if (given != PRINT_GIVEN_BY)
        return true;
    if (!record_word(record, &word))
        return false;
    *number = (int32_t)(uint32_t)word;
    if (*number > PRINT_WIDTH_MAX)
        *number = PRINT_WIDTH_MAX;
    if (*number < -PRINT_WIDTH_MAX)
        *number = -PRINT_WIDTH_MAX;
    return true;
}

static int integer_halved(const struct print_conversion *c, uint64_t word)
{
    bool is_signed = c->letter == 'd' || c->letter == 'i';

    if (c->halves == 2)
        return is_signed ? (int8_t)word : (int)(uint8_t)word;
    if (c->halves == 1)
        return is_signed ? (int16_t)word : (int)(uint16_t)word;
    return (int)(uint32_t)word;
}

/* Writes the conversion's text into `size` bytes at `to`; returns its length, as snprintf does. */
static int value_print(char *to, size_t size, const struct specification *spec,
                       const struct print_conversion *c, uint64_t word, const char *string)
{
    double real;

    /* specification_make has made the format, so it is safe. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    switch (c->letter) {
    case 's':
        return snprintf(to, size, spec->text, spec->width, spec->precision, string);
    case 'p':
        return snprintf(to, size, spec->text, spec->width, (void *)(uintptr_t)word);
    case 'c':
        return snprintf(to, size, spec->text, spec->width, (int)(uint32_t)word);
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        if (c->bytes == 8)
            return snprintf(to, size, spec->text, spec->width, spec->precision, (long long)word);
        return snprintf(to, size, spec->text, spec->width, spec->precision,
                        integer_halved(c, word));
    default:
        memcpy(&real, &word, sizeof(real));
        return snprintf(to, size, spec->text, spec->width, spec->precision, real);
    }
#pragma GCC diagnostic pop
}

static void value_add(struct text *text, const struct specification *spec,
                      const struct print_conversion *c, uint64_t word, const char *string)
{
    size_t guess = 64;

    for (int tries = 0; tries < 2 && text_reserve(text, guess); tries++) {
        int size = value_print(text->bytes + text->size, guess + 1, spec, c, word, string);
        if (size < 0) {
            text->failed = true;
        } else if ((size_t)size <= guess) {
            text->size += (size_t)size;
            return;
        } else {
            guess = (size_t)size;
        }
    }
}

/* Adds one conversion with its arguments. Returns false if the record ends before them. */
static bool conversion_add(struct text *text, struct record *record,
                           const struct print_conversion *c)
{
    struct specification spec;
    const char *string = NULL;
    uint64_t word = 0;
    int length = 0;

    specification_make(&spec, c);
    if (!number_take(record, c->width, &spec.width) ||
        !number_take(record, c->precision, &spec.precision))
        return false;
    if (c->precision == PRINT_NOT_GIVEN)
        spec.precision = -1;
    if (c->letter != 's') {
        if (!record_word(record, &word))
            return false;
    } else {
        if (!record_string(record, &string, &length))
            return false;
        /* The string has no NUL at its end; the precision bounds the read. */
        if (spec.precision < 0 || spec.precision > length)
            spec.precision = length;
    }
    value_add(text, &spec, c, word, string);
    return true;
}

static enum print_kind format_add(struct text *text, struct record *record, unsigned args,
                                  uint64_t format_bytes)
{
    const char *at, *end, *literal;
    unsigned used = 0;

    if (args > PRINT_ARGS_MAX || !record_text(record, format_bytes, &at))
        return PRINT_NOTHING;
    end = at + format_bytes;
    while (at < end) {
        struct print_conversion c;

        literal = at;
        while (at < end && *at != '%')
            at++;
        text_add(text, literal, (size_t)(at - literal));
        if (at == end)
            break;
        literal = at;
        at = print_scan(at + 1, end, &c);
        if (c.letter == '%') {
            text_add(text, "%", 1);
        } else if (!c.letter || used + c.args > args) {
            text_add(text, literal, (size_t)(at - literal)); /* as it stands in the format */
        } else {
            used += c.args;
            if (!conversion_add(text, record, &c))
                return PRINT_NOTHING;
        }
    }
    return text->failed ? PRINT_NOTHING : PRINT_TO_OUTPUT;
}

/* ---- assert ---- */

static enum print_kind assertion_add(struct text *text, struct record *record, uint64_t line)
{
    const char *string[3];
    uint64_t position[3];
    int bytes[3], size;
    size_t most = 128;

    for (unsigned i = 0; i < 3; i++) {
        if (!record_word(record, &position[i]))
            return PRINT_NOTHING;
    }
    for (unsigned i = 0; i < 3; i++) {
        if (!record_string(record, &string[i], &bytes[i]))
            return PRINT_NOTHING;
        most += (size_t)bytes[i];
    }
    if (!text_reserve(text, most))
        return PRINT_NOTHING;
    size = snprintf(text->bytes + text->size, most,
                    "%.*s:%" PRIu32 ": %.*s: block: [%" PRIu32 ",%" PRIu32 ",%" PRIu32
                    "], thread: [%" PRIu32 ",%" PRIu32 ",%" PRIu32 "] Assertion `%.*s` failed.\n",
                    bytes[1], string[1], (uint32_t)line, bytes[2], string[2], (uint32_t)position[0],
                    (uint32_t)(position[0] >> 32), (uint32_t)position[1],
                    (uint32_t)(position[1] >> 32), (uint32_t)position[2],
                    (uint32_t)(position[2] >> 32), bytes[0], string[0]);
    text->size += (size_t)size < most ? (size_t)size : most - 1;
    return PRINT_TO_ERROR;
}

enum print_kind print_format(const unsigned char *bytes, size_t size, struct text *text)
{
    struct record record = {bytes, bytes + size};
    uint64_t stamp, head, detail;

    text->size = 0;
    text->failed = false;
    if (!record_word(&record, &stamp) || !record_word(&record, &head) ||
        !record_word(&record, &detail))
        return PRINT_NOTHING;
    switch (head >> 32 & 0xffff) {
    case PRINT_FORMAT:
        return format_add(text, &record, (unsigned)(head >> 48), detail);
    case PRINT_ASSERT:
        return assertion_add(text, &record, detail);
    default:
        return PRINT_NOTHING;
    }
}

/*
 * print_format.h - from the record of a kernel's printf or assert to text. Pure functions of their
 * arguments; any thread. A record is bytes that anyone may have written: every length in it is
 * checked, and its format never reaches the C library's printf.
 */
#ifndef GS_CLIENT_PRINT_FORMAT_H
#define GS_CLIENT_PRINT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

/* Text that grows. Zeros are an empty one; its owner frees bytes. */
struct text {
    char *bytes;
    size_t size, room;
    bool failed; /* no memory: what came after is missing */
};

enum print_kind {
    PRINT_NOTHING, /* the record makes no sense, or there is no memory for its text */
    PRINT_TO_OUTPUT,
    PRINT_TO_ERROR /* an assertion's line */
};

/* Makes text of a record of print_ring.h; what it held before goes. */
enum print_kind print_format(const unsigned char *record, size_t bytes, struct text *text);

#endif

/*
 * print_format.h - turns the record of a kernel's printf or assert into text. Pure functions of
 * their arguments; any thread. The tenant's kernels may have written any bytes into a record, so
 * every length in it is checked, and its format never reaches the C library's printf.
 */
#ifndef GS_CLIENT_PRINT_FORMAT_H
#define GS_CLIENT_PRINT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

/* Text that grows. All zeros are an empty text. The owner frees `bytes`. */
struct text {
    char *bytes;
    size_t size, room;
    bool failed; /* no memory: the text is incomplete */
};

enum print_kind {
    PRINT_NOTHING, /* the record is invalid, or there is no memory for its text */
    PRINT_TO_OUTPUT,
    PRINT_TO_ERROR /* an assertion's line */
};

/* Replaces the text by the text of a record (print_ring.h). */
enum print_kind print_format(const unsigned char *record, size_t bytes, struct text *text);

#endif

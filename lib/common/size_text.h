/* size_text.h - prints sizes of memory, and other figures, in a few digits for people. Pure; any
 * thread. */
#ifndef GS_COMMON_SIZE_TEXT_H
#define GS_COMMON_SIZE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define SIZE_TEXT_MAX 40

/* Writes three significant digits and a unit: the largest of `units` of which the value has at
 * least one. Each unit is `step` times the unit before. */
void scaled_print(char *out, size_t size, uint64_t value, unsigned step, const char *const units[],
                  unsigned unit_count);

/* Writes the size rounded: "512 B", "1.5 MiB". This function and the next two return out. */
const char *size_rounded(char out[SIZE_TEXT_MAX], uint64_t bytes);
/* Writes the exact size for messages: "8 MiB", "192 bytes", "2097153 bytes (2.0 MiB)". */
const char *size_exact(char out[SIZE_TEXT_MAX], uint64_t bytes);
/* Writes the exact size as options and files take it: "8M", "192". */
const char *size_option(char out[SIZE_TEXT_MAX], uint64_t bytes);

#endif

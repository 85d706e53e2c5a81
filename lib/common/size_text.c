/* size_text.c - see size_text.h. */
#include "common/size_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/util.h"

void scaled_print(char *out, size_t size, uint64_t value, unsigned step, const char *const units[],
                  unsigned unit_count)
{
    double scaled = (double)value;
    unsigned unit = 0;

    while (unit + 1 < unit_count && scaled >= (double)step - 0.5) {
        scaled /= step;
        unit++;
    }
    snprintf(out, size, "%.*f%s", unit > 0 && scaled < 99.95 ? 1 : 0, scaled, units[unit]);
}

/* Returns the largest unit of at most `most` that divides the size, and *count of them. */
static unsigned unit_exact(uint64_t bytes, unsigned most, uint64_t *count)
{
    unsigned unit = 0;

    while (unit < most && bytes && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    *count = bytes;
    return unit;
}

const char *size_rounded(char out[SIZE_TEXT_MAX], uint64_t bytes)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};

    scaled_print(out, SIZE_TEXT_MAX, bytes, 1024, units, ARRAY_SIZE(units));
    return out;
}

/* A figure of more than four digits is as hard to read in a larger unit as in bytes. A size beyond
 * any memory is a mistake, and its digits help to find it. */
const char *size_exact(char out[SIZE_TEXT_MAX], uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    char rounded[SIZE_TEXT_MAX];
    uint64_t count;
    const unsigned unit = unit_exact(bytes, ARRAY_SIZE(units) - 1, &count);

    if (bytes == 1)
        snprintf(out, SIZE_TEXT_MAX, "1 byte");
    else if (count < 10000)
        snprintf(out, SIZE_TEXT_MAX, "%" PRIu64 " %s", count, units[unit]);
    else
        snprintf(out, SIZE_TEXT_MAX, "%" PRIu64 " bytes (%.10s)", bytes,
                 size_rounded(rounded, bytes));
    return out;
}

const char *size_option(char out[SIZE_TEXT_MAX], uint64_t bytes)
{
    static const char *const units[] = {"", "K", "M", "G", "T"};
    uint64_t count;
    const unsigned unit = unit_exact(bytes, ARRAY_SIZE(units) - 1, &count);

    snprintf(out, SIZE_TEXT_MAX, "%" PRIu64 "%s", count, units[unit]);
    return out;
}

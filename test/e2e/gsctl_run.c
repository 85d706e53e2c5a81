/* gsctl_run.c - see gsctl_run.h. */
#include "gsctl_run.h"

#include <stdarg.h>

char output[65536];

int gsctl(const char *first, ...)
{
    const char *arguments[16] = {"bin/gsctl", first};
    unsigned count = 2;
    va_list ap;

    va_start(ap, first);
    while (count < ARRAY_SIZE(arguments) - 1 && (arguments[count] = va_arg(ap, const char *)))
        count++;
    va_end(ap);
    return program_run(arguments, output, sizeof(output));
}

/* kernel_names.c - see kernel_names.h. Names are a tenant's, and may be long: they are cut. */
#include "worker/module/kernel_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_TOLD 6
#define NAME_TOLD  500 /* bytes of a name; a job's message has 8,192 */

struct plain {
    const char *text;
    size_t length;
};

/* Returns the function's own name in a mangled name of the Itanium C++ ABI ("fill" in
 * "_ZN2ns4fillIfEvPT_", without name spaces, template arguments and parameters); the whole name if
 * it is not mangled. Linear in the name's length, which only the length of the module limits. */
static struct plain plain_name(const char *name)
{
    const char *end = name + strlen(name), *at = name + 2;
    struct plain plain = {name, (size_t)(end - name)};

    if (strncmp(name, "_Z", 2) != 0)
        return plain;
    at += strspn(at, "NLKVr");
    while (*at >= '0' && *at <= '9') {
        char *identifier;
        unsigned long bytes = strtoul(at, &identifier, 10);

        if (bytes > (size_t)(end - identifier))
            break;
        plain = (struct plain){identifier, bytes};
        at = identifier + bytes;
        at += *at == 'L';
    }
    return plain;
}

/* Returns 0 if both names are the same without their mangling, 1 if the wanted name is part of the
 * other, else 2. */
static unsigned distance(struct plain wanted, const char *name)
{
    const struct plain plain = plain_name(name);

    if (plain.length == wanted.length && !memcmp(plain.text, wanted.text, plain.length))
        return 0;
    return memmem(name, strlen(name), wanted.text, wanted.length) ? 1 : 2;
}

void kernel_names_tell(char *text, size_t size, const char *wanted, const char *const *names,
                       unsigned count)
{
    const struct plain plain = plain_name(wanted);
    unsigned told = 0;
    int end = snprintf(text, size, "no kernel '%.*s' in the module; it has%s", NAME_TOLD, wanted,
                       count ? "" : " none");

    for (unsigned d = 0; d <= 2; d++) {
        for (unsigned i = 0; i < count && told < NAMES_TOLD; i++) {
            if (distance(plain, names[i]) == d && end >= 0 && (size_t)end < size)
                end += snprintf(text + end, size - (size_t)end, "%s '%.*s'", told++ ? "," : "",
                                NAME_TOLD, names[i]);
        }
    }
    if (told < count && end >= 0 && (size_t)end < size)
        snprintf(text + end, size - (size_t)end, " and %u more", count - told);
}

/* Any bytes as two PTX texts, cut at the first NUL, for the linker: what it makes of them is read
 * again, and what it refuses has a reason. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/link/link.h"
#include "ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *what, const char *text)
{
    fprintf(stderr, "%s\n%s\n", what, text);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const size_t first = strnlen(text, size);
    const char *const texts[] = {text, text + (first < size ? first + 1 : first)};
    const size_t lengths[] = {first, size - (size_t)(texts[1] - text)};
    struct ptx_error error;
    struct ptx_module *m;
    char why[320] = "", *out;
    size_t length;
    int result = ptx_link(texts, lengths, 2, &out, &length, why);

    if (result != 0) {
        if (why[0] == '\0')
            die("refused without a reason", "");
        return 0;
    }
    result = ptx_parse(out, length, &m, &error);
    if (result == 0)
        ptx_module_free(m);
    else if (result != -ENOMEM && result != -E2BIG)
        die(error.text, out);
    free(out);
    return 0;
}

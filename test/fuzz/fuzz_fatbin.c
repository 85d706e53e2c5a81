/* Any bytes as a fatbin: PTX that ends with NUL comes out, or an error that says why. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char err[256] = "", *text = NULL;
    size_t len = 0;

    if (fatbin_find_ptx(data, size, 90, &text, &len, err) == 0) {
        if (strlen(text) != len)
            abort();
        free(text);
    } else if (text || !err[0] || !memchr(err, 0, sizeof(err))) {
        abort();
    }
    return 0;
}

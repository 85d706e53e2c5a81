/* Any bytes as a fatbin: PTX that ends with NUL comes out, or an error that says why; what is kept
 * as machine code is a fatbin again, no larger. The machine code, and the bytes themselves, are
 * judged as machine code. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/cubin.h"
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
    char *copy = malloc(size + 1);
    size_t kept = size;

    if (copy) {
        memcpy(copy, data, size);
        if (fatbin_keep_code(copy, &kept, 90, err) == 0 &&
            (kept > size || fatbin_total_size(copy) != kept ||
             fatbin_find_ptx(copy, kept, 90, &text, &len, err) != -ENOENT))
            abort();
    }
    free(copy);
    if (fatbin_find_code(data, size, 90, &text, &len, err) == 0) {
        cubin_is_pure(text, len);
        free(text);
    }
    cubin_is_pure(data, size);
    return 0;
}

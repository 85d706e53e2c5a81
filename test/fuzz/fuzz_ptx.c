/* Any bytes as PTX: the reader returns a module or an error with a place in the text; a module
 * prints as text that reads back and prints the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *what, const char *text, const struct ptx_error *err)
{
    fprintf(stderr, "%s: %u:%u: %s\n%s\n", what, err->line, err->column, err->text, text);
    abort();
}

static char *print(const struct ptx_module *m, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);

    if (!out || ptx_print(m, out) != 0)
        abort();
    fclose(out);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ptx_module *first = NULL, *second = NULL;
    struct ptx_error err;
    size_t first_size = 0, second_size = 0;
    char *once, *twice;
    int status = ptx_parse((const char *)data, size, &first, &err);

    if (status) {
        if (first || !err.text[0] || err.text[sizeof(err.text) - 1])
            abort();
        return 0;
    }
    once = print(first, &first_size);
    status = ptx_parse(once, first_size, &second, &err);
    if (status)
        die("printed text does not read back", once, &err);
    twice = print(second, &second_size);
    if (first_size != second_size || memcmp(once, twice, first_size))
        die("printed text changes when read back", twice, &err);
    free(once);
    free(twice);
    ptx_module_free(first);
    ptx_module_free(second);
    return 0;
}

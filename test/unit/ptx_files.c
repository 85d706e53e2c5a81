/* ptx_files.c - see ptx_files.h. */
#include "ptx_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const char *const ptx_samples[] = {"every_form.ptx", "every_form_90a.ptx", "sample_O3.ptx",
                                   "sample_O0.ptx",  "sample_G.ptx",       "clang_O2.ptx",
                                   "clang_O0.ptx",   "tiny_90.ptx",        NULL};

char *ptx_path_read(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *text;
    long size;

    if (!file)
        fail_msg("%s cannot be opened", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size = ftell(file);
    rewind(file);
    text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    text[size] = 0;
    *len = (size_t)size;
    return text;
}

char *ptx_file_read(const char *name, size_t *len)
{
    const char *here = __FILE__, *slash = strrchr(here, '/');
    char path[512];

    snprintf(path, sizeof(path), "%.*s/../ptx/%s", (int)(slash - here), here, name);
    return ptx_path_read(path, len);
}

struct ptx_module *ptx_parse_good(const char *text)
{
    struct ptx_module *m = NULL;
    struct ptx_error err;

    if (ptx_parse(text, strlen(text), &m, &err) != 0)
        fail_msg("%u:%u: %s", err.line, err.column, err.text);
    return m;
}

char *ptx_print_text(const struct ptx_module *m)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(ptx_print(m, out), 0);
    fclose(out);
    return text;
}

char *ptx_wrap_body(const char *body)
{
    char *text = NULL;

    assert_true(
        asprintf(&text,
                 ".version 8.7\n.target sm_90\n.address_size 64\n"
                 ".visible .entry k(.param .u64 p0, .param .align 8 .b8 p1[16])\n{\n"
                 ".reg .pred %%p<16>; .reg .b16 %%h<16>; .reg .b32 %%r<16>; .reg .b64 %%q<16>; "
                 ".reg .f32 %%f<16>; .reg .f64 %%d<16>;\n"
                 "%s\nret;\n}\n",
                 body) > 0);
    return text;
}

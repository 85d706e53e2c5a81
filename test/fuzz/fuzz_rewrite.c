/* Any bytes as PTX for the rewriting passes: a text that the reader reads is still read when
 * kernels in it signal their own end, and has as many lines. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "ptx/rewrite/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *what, const char *text)
{
    fprintf(stderr, "%s\n%s\n", what, text);
    abort();
}

static size_t lines(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void check_report(const struct ptx_rewrite_report *report, const char *out)
{
    struct ptx_module *m = NULL;
    struct ptx_error error;
    bool any = false;

    for (uint32_t i = 0; i < report->count; i++) {
        const struct ptx_rewrite_kernel *k = &report->kernels[i];

        if (k->completes != !k->reason[0])
            die("a kernel without a reason", k->name);
        any |= k->completes;
    }
    if (any != (out != NULL))
        die("the report and the text differ", out ? out : "");
    if (out && ptx_parse(out, strlen(out), &m, &error))
        die(error.text, out);
    ptx_module_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned all[] = {PTX_PASS_PRINTF, PTX_PASS_HEAP, PTX_PASS_COMPLETION,
                                   PTX_PASS_PRINTF | PTX_PASS_HEAP | PTX_PASS_COMPLETION};
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct ptx_rewrite_report report = {0};
        char *out = NULL;
        size_t length;
        int result = ptx_rewrite(text, size, all[i], &out, &length, &report);

        if (!result && strlen(out) != length)
            die("a length that is wrong", out);
        if (all[i] == PTX_PASS_COMPLETION && result != -ENOMEM)
            check_report(&report, out);
        if (all[i] == PTX_PASS_COMPLETION && out && lines(out) != lines(text))
            die("lines have moved", out);
        ptx_rewrite_report_deinit(&report);
        free(out);
    }
    free(text);
    return 0;
}

/* Any bytes as PTX for the fence, alone and beside the other passes: what comes out is read again,
 * and the checker, which shares no code with the pass, finds no access to global memory without a
 * fence. The pass says why it refuses, and never refuses what it made itself. */
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

static int by_place(const void *a, const void *b)
{
    const struct ptx_fence_variable *const *v = a, *const *w = b;

    return ((*v)->offset > (*w)->offset) - ((*v)->offset < (*w)->offset);
}

static void check_report(const struct ptx_fence_report *r)
{
    const struct ptx_fence_variable **placed = calloc(r->nvariables + 1u, sizeof(*placed));
    uint64_t end = 0;

    for (uint32_t i = 0; placed && i < r->nvariables; i++)
        placed[i] = &r->variables[i];
    if (placed)
        qsort(placed, r->nvariables, sizeof(*placed), by_place);
    for (uint32_t i = 0; placed && i < r->nvariables; i++) {
        const struct ptx_fence_variable *v = placed[i];

        if (i && strcmp(r->variables[i - 1].name, r->variables[i].name) > 0)
            die("variables out of order", v->name);
        if (v->offset < end || v->offset % v->align || v->align > r->align || v->nbytes > v->size)
            die("a variable in the wrong place", v->name);
        end = v->offset + v->size;
    }
    free(placed);
    if (end > r->bytes)
        die("a block that is too small", "");
    for (uint32_t i = 0; i < r->naddresses; i++)
        if (r->addresses[i].offset + r->addresses[i].size > r->bytes ||
            (r->addresses[i].is_function && r->addresses[i].function >= r->nfunctions))
            die("an address outside of the block", "");
}

static void check_out(const char *out, size_t len, const struct ptx_fence_report *report)
{
    struct ptx_module *m = NULL;
    struct ptx_error error;
    char why[256] = "";
    bool stack = false, indexed = false;

    if (strlen(out) != len)
        die("a length that is wrong", out);
    if (ptx_parse(out, len, &m, &error) == -EINVAL)
        die(error.text, out);
    ptx_module_free(m);
    if (fence_check(out, len, report, &stack, &indexed, why, sizeof(why)) == -EPERM)
        die(why, out);
    if (indexed && !report->indexed)
        die("an index is not reported", out);
    if (stack && !report->stack_line)
        die("a store to the stack is not reported", out);
    check_report(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned all[] = {PTX_PASS_FENCE,
                                   PTX_PASS_FENCE | PTX_PASS_PRINTF | PTX_PASS_HEAP |
                                       PTX_PASS_COMPLETION | PTX_PASS_GRID,
                                   PTX_PASS_FENCE | PTX_PASS_STRAYS | PTX_PASS_WINDOW};
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct ptx_rewrite_report report = {0};
        char *out = NULL;
        size_t len = 0;
        int result = ptx_rewrite(text, size, all[i], &out, &len, &report);

        if (!result)
            check_out(out, len, &report.fence);
        else if ((result == -EPERM || result == -EINVAL) && !report.fence.reason[0])
            die("a refusal without a reason", text);
        else if (result != -EPERM && result != -EINVAL && result != -ENOMEM)
            die("an unknown result", text);
        ptx_rewrite_report_deinit(&report);
        free(out);
    }
    free(text);
    return 0;
}

/* Fences one file of PTX, for test/ptx/assemble: fence FILE writes the text to stdout, or why not
 * to stderr. --all: beside the other passes. --strays: and with strays
 * recorded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/rewrite/rewrite.h"

enum { PTX_FILE_MAX = 64 << 20 };

int main(int argc, char **argv)
{
    unsigned passes = PTX_PASS_FENCE | PTX_PASS_GRID | PTX_PASS_WINDOW;
    struct ptx_rewrite_report report = {0};
    char *text = calloc(1, PTX_FILE_MAX), *out = NULL;
    size_t n, len;
    FILE *f;

    if (argc > 2 && (!strcmp(argv[1], "--all") || !strcmp(argv[1], "--strays")))
        passes |= PTX_PASS_PRINTF | PTX_PASS_HEAP | PTX_PASS_COMPLETION;
    if (argc > 2 && !strcmp(argv[1], "--strays"))
        passes |= PTX_PASS_STRAYS;
    f = argc > 1 ? fopen(argv[argc - 1], "rb") : NULL;
    n = f && text ? fread(text, 1, PTX_FILE_MAX - 1, f) : 0;
    if (!n) {
        fprintf(stderr, "usage: fence [--all | --strays] FILE\n");
        return 2;
    }
    if (ptx_rewrite(text, n, passes, &out, &len, &report)) {
        fprintf(stderr, "%s\n", report.fence.reason);
        return 1;
    }
    if (report.fence.stack_line)
        fprintf(stderr, "line %u: a store to any place of the stack\n", report.fence.stack_line);
    fwrite(out, 1, len, stdout);
    ptx_rewrite_report_deinit(&report);
    free(out);
    free(text);
    return fclose(f);
}

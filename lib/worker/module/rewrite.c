/*
 * rewrite.c - rewrites a tenant's PTX before it is compiled. Kernels that print write into the
 * print block of their session (print.c), and kernels get a hidden last parameter by which they can
 * tell their own end (own store; submit/launch.c).
 *
 * Machine code stays as it is. Where a fatbin holds both, its PTX replaces the machine code only if
 * the PTX prints, because compiling PTX takes longer than loading machine code.
 */
#include "worker/module/rewrite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "ptx/fatbin.h"
#include "ptx/printf_pass.h"
#include "ptx/rewrite/rewrite.h"
#include "worker/jobs/job.h"
#include "worker/module/print.h"

/* The PTX in a fatbin that the driver would compile if there were no machine code beside it. */
static char *fatbin_text(const unsigned char *image, uint64_t size, size_t *length)
{
    unsigned sm = worker->info.compute_major * 10 + worker->info.compute_minor;
    char reason[256], *text = NULL;
    int failed = fatbin_find_ptx(image, size, sm, &text, length, reason);

    /* The image is not refused, because the driver may find machine code in it. */
    if (failed)
        log_debug("the PTX of a fatbin was not looked at for printf: %s", reason);
    return failed ? NULL : text;
}

static void report_log(const struct ptx_rewrite_report *report)
{
    if (report->reason[0])
        log_debug("no kernel of a module tells its own end: %s", report->reason);
    for (uint32_t i = 0; i < report->count; i++) {
        if (!report->kernels[i].completes)
            log_debug("%s does not tell its own end: %s", report->kernels[i].name,
                      report->kernels[i].reason);
    }
}

/* Runs the passes over PTX text. Returns 0 and the new text in *out, or ptx_rewrite's error. */
static int text_rewrite(const char *text, size_t length, char **out, size_t *out_length,
                        struct ptx_rewrite_report **report)
{
    const unsigned passes = PTX_PASS_PRINTF | PTX_PASS_COMPLETION;

    *report = calloc(1, sizeof(**report));
    if (!*report)
        return -ENOMEM;
    int result = ptx_rewrite(text, length, passes, out, out_length, *report);
    report_log(*report);
    if (result) {
        image_report_free(*report);
        *report = NULL;
    }
    return result;
}

gs_status image_rewrite(struct job *job, unsigned char **image, uint64_t *size,
                        struct ptx_rewrite_report **report)
{
    const bool fatbin = fatbin_is_fatbin(*image, *size);
    char *unpacked = NULL, *rewritten = NULL;
    const char *text = (const char *)*image;
    size_t length = *size;
    int result = -ENOENT;

    *report = NULL;
    if (fatbin)
        text = unpacked = fatbin_text(*image, *size, &length);
    if (text && (!fatbin || printf_pass_maybe(text, length)))
        result = text_rewrite(text, length, &rewritten, &length, report);
    free(unpacked);
    if (!result && fatbin && !(*report)->prints) { /* printf_pass_maybe saw words in comments */
        free(rewritten);
        image_report_free(*report);
        *report = NULL;
        result = -ENOENT;
    }
    if (result == -ENOENT)
        return GS_OK;
    if (result)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory to rewrite a module");
    if ((*report)->prints && print_open(job) != GS_OK) {
        free(rewritten);
        image_report_free(*report);
        *report = NULL;
        return job->status;
    }
    free(*image);
    *image = (unsigned char *)rewritten;
    *size = length;
    return GS_OK;
}

void image_report_free(struct ptx_rewrite_report *report)
{
    if (report)
        ptx_rewrite_report_deinit(report);
    free(report);
}

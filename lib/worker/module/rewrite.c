/*
 * rewrite.c - rewrites a tenant's PTX before it is compiled. Kernels that print write into the
 * print block of their session (print.c), and kernels get a hidden last parameter by which they can
 * tell their own end (own store; submit/launch.c).
 *
 * Machine code stays as it is. Where a fatbin holds both, its PTX replaces the machine code only if
 * the PTX prints, because compiling PTX takes longer than loading machine code. In a fenced session
 * every kernel is fenced into the window, so all that runs there is compiled from PTX.
 */
#include "worker/module/rewrite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/util.h"
#include "ptx/fatbin.h"
#include "ptx/printf_pass.h"
#include "ptx/rewrite/rewrite.h"
#include "worker/jobs/job.h"
#include "worker/module/image.h"
#include "worker/module/print.h"

/* The PTX in a fatbin that the driver would compile if there were no machine code beside it. NULL,
 * with a reason: there is none. */
static char *fatbin_text(const unsigned char *image, uint64_t size, size_t *length,
                         char reason[256])
{
    unsigned sm = worker->info.compute_major * 10 + worker->info.compute_minor;
    char *text = NULL;
    int failed = fatbin_find_ptx(image, size, sm, &text, length, reason);

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

static gs_status fence_refused(struct job *job, const char *reason)
{
    return job_fail(job, GS_ERR_PERMISSION,
                    "the session's kernels are fenced into its memory, and this module cannot be "
                    "fenced: %s",
                    reason);
}

/* Such a store can change a return address or a register that the compiler keeps on the stack, a
 * fenced address among them (doc/isolation.md). */
static void stack_refused(struct job *job, uint32_t line)
{
    char reason[160];

    snprintf(reason, sizeof(reason),
             "line %" PRIu32 ": a store to local memory at a computed address may meet the stack; "
             "compile with optimization, and without -G",
             line);
    fence_refused(job, reason);
}

/* Runs the passes over PTX text. GS_OK: the new text is in *out, or *out is NULL because nothing
 * had to change. */
static gs_status text_rewrite(struct job *job, const char *text, size_t length, char **out,
                              size_t *out_length, struct ptx_rewrite_report **report)
{
    const unsigned passes =
        PTX_PASS_PRINTF | PTX_PASS_COMPLETION | (job->session->fenced ? PTX_PASS_FENCE : 0);
    int result = -ENOMEM;

    *out = NULL;
    *report = calloc(1, sizeof(**report));
    if (*report)
        result = ptx_rewrite(text, length, passes, out, out_length, *report);
    if (!result || result == -ENOENT)
        report_log(*report);
    if (!result && !(*report)->fence.stack_line)
        return GS_OK;
    if (result == -EPERM)
        fence_refused(job, (*report)->fence.reason);
    else if (!result)
        stack_refused(job, (*report)->fence.stack_line);
    free(*out);
    *out = NULL;
    image_report_free(*report);
    *report = NULL;
    if (result == -ENOMEM)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory to rewrite a module");
    return job->status;
}

/* The text that stands for the image: its own, or a fatbin's. NULL: the image goes to the driver as
 * it is. *unpacked is the caller's to free. */
static const char *image_text(struct job *job, const unsigned char *image, size_t *length,
                              char **unpacked)
{
    const bool fatbin = fatbin_is_fatbin(image, *length), fenced = job->session->fenced;
    char reason[256] = "it is machine code without PTX";

    *unpacked = NULL;
    if (!image_binary(image, *length))
        return (const char *)image;
    if (fatbin)
        *unpacked = fatbin_text(image, *length, length, reason);
    if (fenced && !*unpacked)
        fence_refused(job, reason);
    else if (fatbin && !*unpacked) /* the driver may find machine code in it */
        log_debug("the PTX of a fatbin was not looked at for printf: %s", reason);
    return *unpacked && (fenced || printf_pass_maybe(*unpacked, *length)) ? *unpacked : NULL;
}

gs_status image_rewrite(struct job *job, unsigned char **image, uint64_t *size,
                        struct ptx_rewrite_report **report)
{
    CLEANUP_FREE char *unpacked = NULL;
    char *rewritten = NULL;
    size_t length = *size;
    const char *text = image_text(job, *image, &length, &unpacked);

    *report = NULL;
    if (job->status != GS_OK || !text ||
        text_rewrite(job, text, length, &rewritten, &length, report) != GS_OK)
        return job->status;
    if (rewritten && unpacked && !job->session->fenced && !(*report)->prints) {
        /* printf_pass_maybe saw words in comments: the machine code may stay */
        free(rewritten);
        rewritten = NULL;
    }
    if (!rewritten || ((*report)->prints && print_open(job) != GS_OK)) {
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

/*
 * rewrite.c - rewrites a tenant's PTX before it is compiled. Kernels that print then write into the
 * print block of their session (print.c), kernels that allocate use the session's heap (heap.c),
 * and kernels get a hidden last parameter by which they can signal their own end (own store;
 * submit/launch.c).
 *
 * The driver only gets machine code: no launch is issued while it loads an image, and for 60 MiB of
 * PTX, which a fatbin packs into 5.5 KB, the driver took a minute. So PTX is compiled beforehand
 * (module.c), and a fatbin is either replaced by its PTX or stripped of all but the machine code
 * for this device. Where it has both, the PTX is used only if it prints, allocates or has managed
 * variables, because compiling PTX takes longer than loading machine code (text_wanted). In a
 * fenced session every kernel is fenced into the window, so all of its code is compiled from PTX.
 */
#include "worker/module/rewrite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/image_bundle.h"
#include "common/log.h"
#include "common/util.h"
#include "ptx/cubin.h"
#include "ptx/fatbin.h"
#include "ptx/heap_pass.h"
#include "ptx/link/link.h"
#include "ptx/printf_pass.h"
#include "ptx/ptx.h"
#include "ptx/rewrite/rewrite.h"
#include "worker/jobs/job.h"
#include "worker/module/assembler_choice.h"
#include "worker/module/compile.h"
#include "worker/module/image.h"
#include "worker/module/kernel_fault.h"
#include "worker/module/print.h"
#include "worker/module/rewrite_cache.h"

static unsigned device_sm(void)
{
    return worker->info.compute_major * 10 + worker->info.compute_minor;
}

/* Finds the PTX of a fatbin that the device takes. A driver refuses PTX that is newer than its
 * device; the software device reads it. */
static int fatbin_text(const void *image, size_t size, char **text, size_t *length,
                       char reason[256])
{
    return (worker->machine_code ? fatbin_find_ptx : fatbin_find_readable)(image, size, device_sm(),
                                                                           text, length, reason);
}

static void report_log(const struct ptx_rewrite_report *report)
{
    if (report->reason[0])
        log_debug("no kernel of a module signals its own end: %s", report->reason);
    for (uint32_t i = 0; i < report->count; i++) {
        if (!report->kernels[i].completes)
            log_debug("%s does not signal its own end: %s", report->kernels[i].name,
                      report->kernels[i].reason);
    }
    for (const struct ptx_left_out_kernel *k = report->left_out.kernels; k; k = k->next)
        log_debug("%s is left out of its module: %s", k->name, k->reason);
}

static gs_status fence_refused(struct job *job, const char *reason)
{
    return job_fail(job, GS_ERR_PERMISSION,
                    "the session's kernels are fenced into its memory, and this module cannot be "
                    "fenced: %s",
                    reason);
}

/* Refuses a module because of a store that may reach a caller's stack. Such a store can change a
 * return address or a register that the compiler keeps on the stack, among them a fenced address
 * (doc/isolation.md). */
static void stack_refused(struct job *job, uint32_t line)
{
    char reason[200];

    snprintf(reason, sizeof(reason), "line %" PRIu32 ": " FENCE_STACK_REASON, line);
    fence_refused(job, reason);
}

/* Runs the passes over PTX text. GS_OK: the new text is in *out, or *out is NULL because nothing
 * had to change. */
static gs_status text_rewrite(struct job *job, const char *text, size_t length, char **out,
                              size_t *out_length, struct ptx_rewrite_report **report)
{
    const unsigned passes =
        PTX_PASS_PRINTF | PTX_PASS_HEAP | PTX_PASS_TRAP | PTX_PASS_COMPLETION |
        (job->session->fenced ? PTX_PASS_FENCE | PTX_PASS_GRID | PTX_PASS_WINDOW
                              : PTX_PASS_VARIABLES) |
        /* On a GPU an unfenced session keeps kernels that the reader here does not know: the
         * compiler may know them. */
        (job->session->fenced || !worker->machine_code ? PTX_PASS_LEAVE_OUT : 0) |
        (kernel_fault_strays(job->session) ? PTX_PASS_STRAYS : 0);
    int result = -ENOMEM;

    *out = NULL;
    if (rewrite_cache_find(text, length, passes, out, out_length, report, job->session->uid)) {
        if (!*out) {
            report_release(*report);
            *report = NULL;
        }
        return GS_OK;
    }
    if (job->brief && length > COMPILE_BRIEF)
        return job_takes_long(job);
    *report = report_new();
    if (*report)
        result = ptx_rewrite(text, length, passes, out, out_length, *report);
    if (!result || result == -ENOENT)
        report_log(*report);
    if (!result && !(*report)->fence.stack_line) {
        rewrite_cache_put(text, length, passes, *out, *out_length, *report, job->session->uid);
        return GS_OK;
    }
    if (result == -ENOENT)
        rewrite_cache_put(text, length, passes, NULL, 0, *report, job->session->uid);
    if (result == -EPERM)
        fence_refused(job, (*report)->fence.reason);
    else if (result == -EINVAL) /* a text that cannot be read cannot be fenced */
        job_fail(job, GS_ERR_BAD_IMAGE, "this module cannot be read: %s", (*report)->fence.reason);
    else if (!result)
        stack_refused(job, (*report)->fence.stack_line);
    free(*out);
    *out = NULL;
    report_release(*report);
    *report = NULL;
    if (result == -ENOMEM)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory to rewrite a module");
    return job->status;
}

/* Strips a fatbin of all but the machine code for this device, so that the driver, which holds up
 * all launches while it loads the image, has nothing to compile. False, with a reason: there is no
 * such code. */
static bool code_keep(unsigned char *image, uint64_t *size, char reason[256])
{
    size_t length = *size;

    if (!worker->machine_code) {
        snprintf(reason, 256, "the software device runs PTX only");
        return false;
    }
    if (fatbin_keep_code(image, &length, device_sm(), reason))
        return false;
    *size = length;
    return true;
}

static bool has_word(const char *text, size_t length, const char *word)
{
    return memmem(text, length, word, strlen(word)) != NULL;
}

/* Returns whether the PTX of a fatbin is wanted although there is machine code: because its calls
 * may have to be redirected, or its managed variables have to move into the window, where their
 * tenant can reach them. Without ptxas, kernels that move registers between their warps need their
 * machine code more than their calls: the driver's linker ignores setmaxnreg, so that they would
 * spill. One such kernel decides for all kernels of its text. */
static bool text_wanted(const char *text, size_t length)
{
    return has_word(text, length, ".managed") ||
           ((assembler_wanted() || !has_word(text, length, "setmaxnreg")) &&
            (printf_pass_maybe(text, length) || heap_pass_maybe(text, length)));
}

static gs_status kernels_find(struct job *job, const char *text, size_t length,
                              struct grid_sync *grid)
{
    if (job->brief && length > COMPILE_BRIEF && grid_sync_reads(text, length))
        return job_takes_long(job);
    if (grid_sync_find(text, length, grid))
        job_fail(job, GS_ERR_NO_MEMORY, "no memory to read a module");
    return job->status;
}

/* Returns the text of a fatbin; *text NULL: its machine code is to be loaded, to which code_keep
 * has stripped the image. *grid is filled from the text in both cases. On failure the job has
 * failed. */
static gs_status fatbin_choose(struct job *job, unsigned char *image, uint64_t *size, char **text,
                               size_t *length, struct grid_sync *grid)
{
    char no_text[256], no_code[256];
    int failed = fatbin_text(image, *size, text, length, no_text);

    if (!failed && (*length == 0 || image_binary((unsigned char *)*text, *length))) {
        snprintf(no_text, sizeof(no_text), "what the fatbin has as PTX is no text");
        free(*text);
        *text = NULL;
        failed = -EINVAL;
    }
    if (!failed && kernels_find(job, *text, *length, grid) != GS_OK)
        return job->status;
    if (!job->session->fenced && (failed || !text_wanted(*text, *length)) &&
        code_keep(image, size, no_code)) {
        free(*text);
        *text = NULL;
        if (failed)
            log_debug("the PTX of a fatbin was not looked at for printf and malloc: %s", no_text);
        return GS_OK;
    }
    if (!failed)
        return GS_OK;
    if (failed == -ENOMEM || failed == -E2BIG)
        return job_fail(job, failed == -ENOMEM ? GS_ERR_NO_MEMORY : GS_ERR_LIMIT, "%s", no_text);
    if (job->session->fenced)
        return fence_refused(job, no_text);
    return job_fail(job, GS_ERR_BAD_IMAGE, "%s; %s", no_text, no_code);
}

/* Returns the text of an image of a bundle. *unpacked, the caller's to free, is set if the text had
 * to be unpacked. On failure the job has failed. */
static gs_status bundled_text(struct job *job, const unsigned char *image, uint64_t size,
                              const char **text, size_t *length, char **unpacked)
{
    char reason[256];
    int failed;

    *text = (const char *)image;
    *length = size;
    if (!image_binary(image, size))
        return GS_OK;
    /* The device runtime has PTX only for newer devices, which the linker leaves out. */
    failed = fatbin_is_fatbin(image, size)
                 ? fatbin_find_readable(image, size, device_sm(), unpacked, length, reason)
                 : -ENOENT;
    *text = *unpacked;
    if (!fatbin_is_fatbin(image, size))
        snprintf(reason, sizeof(reason), "machine code without PTX cannot be linked");
    if (!failed)
        return GS_OK;
    return job_fail(job,
                    failed == -ENOMEM  ? GS_ERR_NO_MEMORY
                    : failed == -E2BIG ? GS_ERR_LIMIT
                                       : GS_ERR_BAD_IMAGE,
                    "%s", reason);
}

/* Checks that the images' texts are within the limit. Their unpacked sizes count, and before they
 * are unpacked: few bytes unpack to 64 MiB, of which nearly all may lie behind the text's end. On
 * failure the job has failed. */
static gs_status bundle_admit(struct job *job, const unsigned char *image, uint32_t count)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t size;
        const unsigned char *part = image_bundled(image, i, &size);
        const uint64_t bytes =
            image_binary(part, size) ? fatbin_readable_size(part, size, device_sm()) : size;

        if (bytes > PTX_MAX_TEXT - all)
            return job_fail(job, GS_ERR_LIMIT,
                            "the images to be linked have more than %u bytes of PTX", PTX_MAX_TEXT);
        all += bytes;
    }
    return job->brief && all > COMPILE_BRIEF ? job_takes_long(job) : GS_OK;
}

/* Links the images of a bundle. *linked is the caller's to free. On failure the job has failed. */
static gs_status bundle_link(struct job *job, const unsigned char *image, char **linked,
                             size_t *length)
{
    uint32_t count;
    char why[320];
    int failed = 0;

    memcpy(&count, image + offsetof(struct image_bundle, count), sizeof(count));
    if (bundle_admit(job, image, count) != GS_OK)
        return job->status;
    CLEANUP_FREE const char **texts = calloc(count + 1u, sizeof(*texts));
    CLEANUP_FREE size_t *lengths = calloc(count + 1u, sizeof(*lengths));
    CLEANUP_FREE char **unpacked = calloc(count, sizeof(*unpacked));
    if (!texts || !lengths || !unpacked)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory to link %" PRIu32 " images", count);
    for (uint32_t i = 0; i < count && job->status == GS_OK; i++) {
        uint64_t size;
        const unsigned char *part = image_bundled(image, i, &size);

        bundled_text(job, part, size, &texts[i], &lengths[i], &unpacked[i]);
    }
    if (job->status == GS_OK)
        failed = ptx_link(texts, lengths, count, linked, length, why);
    for (uint32_t i = 0; i < count; i++)
        free(unpacked[i]);
    if (failed)
        job_fail(job,
                 failed == -ENOMEM  ? GS_ERR_NO_MEMORY
                 : failed == -E2BIG ? GS_ERR_LIMIT
                                    : GS_ERR_BAD_IMAGE,
                 "the images cannot be linked: %s", why);
    return job->status;
}

/* Returns the text of an image: its own, a fatbin's, or a linked bundle's. *text NULL: the image is
 * machine code. *unpacked is the caller's to free. On failure the job has failed. */
static gs_status image_text(struct job *job, unsigned char *image, uint64_t *size,
                            const char **text, size_t *length, char **unpacked,
                            struct grid_sync *grid)
{
    gs_status status = GS_OK;

    *text = NULL;
    *length = *size;
    if (image_is_bundle(image, *size)) {
        status = bundle_link(job, image, unpacked, length);
        *text = *unpacked;
        if (status == GS_OK)
            status = kernels_find(job, *text, *length, grid);
    } else if (fatbin_is_fatbin(image, *size)) {
        status = fatbin_choose(job, image, size, unpacked, length, grid);
        *text = *unpacked;
    } else if (!image_binary(image, *size)) {
        *text = (const char *)image;
        if (*size > PTX_MAX_TEXT)
            status = job_fail(job, GS_ERR_LIMIT, "PTX of %" PRIu64 " bytes is larger than %u",
                              *size, PTX_MAX_TEXT);
        else
            status = kernels_find(job, *text, *length, grid);
    } else if (job->session->fenced) {
        status = fence_refused(job, "it is machine code without PTX");
    }
    return status;
}

gs_status image_rewrite(struct job *job, unsigned char **image, uint64_t *size,
                        struct ptx_rewrite_report **report, struct grid_sync *grid, bool *state)
{
    CLEANUP_FREE char *unpacked = NULL;
    CLEANUP_FREE char *rewritten = NULL;
    const char *text;
    char reason[256];
    size_t length, new_length;

    *report = NULL;
    *state = true;
    if (image_text(job, *image, size, &text, &length, &unpacked, grid) != GS_OK || !text)
        return job->status;
    *state = !job->session->fenced && image_has_state((const unsigned char *)text, length);
    if (text_rewrite(job, text, length, &rewritten, &new_length, report) != GS_OK)
        return job->status;
    /* If text_wanted was misled by words in comments, the machine code is loaded after all. A
     * module without kernels has no report. */
    const bool wanted =
        *report && ((*report)->prints || (*report)->allocates || (*report)->fence.managed);
    const bool code =
        unpacked && !job->session->fenced && !wanted && code_keep(*image, size, reason);
    if (code || !rewritten ||
        (((*report)->prints || kernel_fault_possible(*report)) && print_open(job) != GS_OK)) {
        report_release(*report);
        *report = NULL;
    }
    if (code || job->status != GS_OK || (!rewritten && !unpacked))
        return job->status;
    free(*image);
    *image = (unsigned char *)(rewritten ? rewritten : unpacked);
    *size = rewritten ? new_length : length;
    if (rewritten)
        rewritten = NULL;
    else
        unpacked = NULL;
    return GS_OK;
}

bool image_code_is_pure(const unsigned char *image, uint64_t size)
{
    CLEANUP_FREE char *code = NULL;
    char reason[256];
    size_t length;

    if (!fatbin_is_fatbin(image, size))
        return cubin_is_pure(image, size);
    return !fatbin_find_code(image, size, device_sm(), &code, &length, reason) &&
           cubin_is_pure(code, length);
}

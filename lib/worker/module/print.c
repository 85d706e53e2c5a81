/*
 * print.c - what a tenant's kernels print goes to the tenant: into a block of host memory that the
 * session shares with its client, by functions that ptx/printf_pass.c puts into the module. The
 * worker makes the block and tells the module its address; it never reads it.
 *
 * The block is not one of the session's numbered host blocks, so a tenant cannot free it under its
 * kernels. It lives as long as the session.
 */
#include "worker/module/print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/print_ring.h"
#include "ptx/fatbin.h"
#include "ptx/printf_pass.h"
#include "worker/jobs/job.h"
#include "worker/memory/host_block.h"

/* The answer to REQ_MODULE_LOAD that is print's: see wire.h. */
#define RET_BLOCK_ID    1
#define RET_BLOCK_BYTES 2

static gs_status block_make(struct job *job)
{
    struct session *session = job->session;

    if (session->module.print)
        return GS_OK;
    if (host_block_admit(job, PRINT_BLOCK_BYTES) != GS_OK)
        return job->status;
    session->module.print =
        host_block_new(job, PRINT_BLOCK_BYTES, HOST_MAPPED, &session->module.print_id);
    return job->status;
}

/* The PTX in a fatbin that the driver would compile if there were no machine code beside it. */
static char *fatbin_text(const unsigned char *image, uint64_t size, size_t *length)
{
    unsigned sm = worker.info.compute_major * 10 + worker.info.compute_minor;
    char reason[256], *text = NULL;
    int failed = fatbin_find_ptx(image, size, sm, &text, length, reason);

    /* Not worth a refusal: the driver may find machine code in it. */
    if (failed)
        log_debug("the PTX of a fatbin was not looked at for printf: %s", reason);
    return failed ? NULL : text;
}

gs_status print_redirect(struct job *job, unsigned char **image, uint64_t *size)
{
    char *unpacked = NULL, *redirected;
    const char *text = (const char *)*image;
    size_t length = *size;
    int result = -ENOENT;

    if (fatbin_is_fatbin(*image, *size))
        text = unpacked = fatbin_text(*image, *size, &length);
    if (text && printf_pass_maybe(text, length))
        result = printf_pass(text, length, &redirected, &length);
    free(unpacked);
    if (result == -ENOENT)
        return GS_OK;
    if (result)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory for a module that prints");
    if (block_make(job) != GS_OK) {
        free(redirected);
        return job->status;
    }
    free(*image);
    *image = (unsigned char *)redirected;
    *size = length;
    job->ret[RET_BLOCK_ID] = (uint64_t)job->session->module.print_id;
    job->ret[RET_BLOCK_BYTES] = PRINT_BLOCK_BYTES;
    return GS_OK;
}

CUresult print_bind(const struct job *job, CUmodule module)
{
    CUdeviceptr variable, block;
    CUresult result;

    if (!job->ret[RET_BLOCK_BYTES])
        return CUDA_SUCCESS;
    result = DRV(cuModuleGetGlobal_v2, &variable, NULL, module, PRINTF_PASS_VARIABLE);
    if (result == CUDA_ERROR_NOT_FOUND)
        return CUDA_SUCCESS; /* the compiler saw that nothing ever prints */
    if (!result)
        result = DRV(cuMemHostGetDevicePointer_v2, &block, job->session->module.print->memory, 0);
    if (!result)
        result = DRV(cuMemcpyHtoDAsync_v2, variable, &block, sizeof(block), service_stream());
    return result ? result : DRV(cuStreamSynchronize, service_stream());
}

void print_deinit(struct session *session)
{
    host_block_free(session, session->module.print);
    session->module.print = NULL;
}

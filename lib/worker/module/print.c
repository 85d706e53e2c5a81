/*
 * print.c - the print block of a session: a block of host memory, shared with the client, into
 * which the session's kernels print. Functions that ptx/rewrite/printf_pass.c puts into a module
 * write the output. The worker makes the block and tells the module its address; it reads only the
 * fault notes in it (kernel_fault.c).
 *
 * The print block is not one of the session's numbered host blocks, so a tenant cannot free it
 * while its kernels use it. It lives as long as the session.
 */
#include "worker/module/print.h"

#include <string.h>

#include "common/print_ring.h"
#include "ptx/rewrite/rewrite.h"
#include "worker/jobs/job.h"
#include "worker/journal/journal.h"
#include "worker/memory/host_block.h"
#include "worker/module/pass_variable.h"

/* The values of the answer to REQ_MODULE_LOAD that describe the print block; see wire.h. */
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
    if (session->module.print) {
        const uint64_t value[JOURNAL_VALUES] = {(uint64_t)session->module.print_id};
        journal_put(session->journal, JOURNAL_PRINT, 0, value, NULL, 0);
    }
    return job->status;
}

gs_status print_resume(struct job *job)
{
    struct session_module *own = &job->session->module;

    for (const struct journal_entry *e = NULL; (e = journal_next(job->session->journal, e));) {
        if (e->kind != JOURNAL_PRINT || own->print)
            continue;
        own->print_id = (int)e->value[0];
        own->print = host_block_adopt(job, own->print_id, PRINT_BLOCK_BYTES, HOST_MAPPED, 0);
        if (!own->print)
            return job->status;
    }
    return GS_OK;
}

gs_status print_open(struct job *job)
{
    if (block_make(job) != GS_OK)
        return job->status;
    job->ret[RET_BLOCK_ID] = (uint64_t)job->session->module.print_id;
    job->ret[RET_BLOCK_BYTES] = PRINT_BLOCK_BYTES;
    return GS_OK;
}

CUresult print_block_address(const struct session *session, CUdeviceptr *address)
{
    return DRV(cuMemHostGetDevicePointer_v2, address, session->module.print->memory, 0);
}

CUresult print_bind(const struct job *job, const struct module *module)
{
    CUdeviceptr block;

    if (!job->ret[RET_BLOCK_BYTES])
        return CUDA_SUCCESS;
    CUresult result = print_block_address(job->session, &block);
    return result ? result
                  : pass_variable_write(module, PTX_PRINT_VARIABLE, &block, sizeof(block), NULL);
}

void print_deinit(struct session *session)
{
    host_block_free(session, session->module.print);
    session->module.print = NULL;
    session->module.faults = NULL;
}

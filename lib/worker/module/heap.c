/*
 * heap.c - the heap of a session's kernels: memory in the session's window, charged to the session,
 * zeroed, and freed with the window. (The driver's own heap serves all tenants of a device and is
 * never cleared.) Functions that ptx/rewrite/heap_pass.c puts into a module allocate from it. The
 * worker makes the heap when it loads the first such module, and never looks into it.
 */
#include "worker/module/heap.h"

#include <stdio.h>

#include "common/size_text.h"
#include "ptx/heap_pass.h"
#include "worker/jobs/job.h"
#include "worker/journal/journal.h"
#include "worker/memory/device_memory.h"
#include "worker/memory/limits.h"
#include "worker/memory/memory.h"
#include "worker/module/pass_variable.h"

#define HEAP_BYTES UINT64_C(8388608) /* CUDA's default of cudaLimitMallocHeapSize */

/* Returns the heap's size, rounded up to the driver's granularity, in which memory is charged. */
static uint64_t heap_bytes(const struct session *session)
{
    const uint64_t asked = session->module.heap_asked ? session->module.heap_asked : HEAP_BYTES;

    return device_rounded(asked);
}

static bool allocates(const struct module *module)
{
    return module->rewrite && module->rewrite->allocates;
}

static void heap_note(const struct session *session)
{
    const uint64_t value[JOURNAL_VALUES] = {session->module.heap, session->module.heap_asked};

    journal_put(session->journal, JOURNAL_HEAP, 0, value, NULL, 0);
}

gs_status heap_open(struct job *job, const struct module *module)
{
    struct session *session = job->session;
    char why[sizeof(job->message) / 2], size[SIZE_TEXT_MAX];

    if (!allocates(module) || session->module.heap)
        return GS_OK;
    if (session->module.heap_asked > worker->info.memory_total)
        job_fail(job, GS_ERR_QUOTA, "the session's limit is %s",
                 size_exact(size, memory_limits(session).session));
    else if (memory_take(job, heap_bytes(session), worker->granularity, &session->module.heap) ==
             GS_OK) {
        heap_note(session);
        return GS_OK;
    }
    snprintf(why, sizeof(why), "%.*s", (int)sizeof(why) - 1, job->message);
    return job_fail(
        job, job->status,
        "the module's kernels call malloc, and there is no room for the session's heap "
        "of %s: %s",
        size_exact(size, session->module.heap_asked ? session->module.heap_asked : HEAP_BYTES),
        why);
}

gs_status heap_resume(struct job *job)
{
    struct session *session = job->session;

    for (const struct journal_entry *e = NULL; (e = journal_next(session->journal, e));) {
        if (e->kind != JOURNAL_HEAP)
            continue;
        session->module.heap = e->value[0];
        session->module.heap_asked = e->value[1];
        if (session->module.heap &&
            !memory_adopt(session, session->module.heap, heap_bytes(session)))
            return job_fail(job, GS_ERR_INTERRUPTED, "the heap of the kernels has no place");
    }
    return GS_OK;
}

CUresult heap_bind(const struct session *session, const struct module *module)
{
    const struct ptx_heap heap = ptx_heap(session->module.heap, heap_bytes(session));

    if (!allocates(module))
        return CUDA_SUCCESS;
    return pass_variable_write(module, PTX_HEAP_VARIABLE, &heap, sizeof(heap), NULL);
}

/* Runs on a service thread, as heap_open does, so the two do not run at the same time. */
static void kernel_heap_work(struct job *job)
{
    struct session *session = job->session;
    char size[SIZE_TEXT_MAX];

    if (session->module.heap) {
        job_fail(job, GS_ERR_INVALID_VALUE, "the session's kernels have their heap, of %s",
                 size_exact(size, heap_bytes(session)));
        return;
    }
    session->module.heap_asked = job->arg[0];
    heap_note(session);
}

const struct job_kind job_kernel_heap = {"kernel_heap",    JOB_QUICK, NULL,
                                         kernel_heap_work, NULL,      NULL};

/*
 * request.c - a tenant's synchronous requests: from the slot in its segment into a job, and the
 * answer back.
 *
 * The slot is the tenant's memory: everything is copied once, and the job's steps check the copy.
 */
#include "worker/loop/request.h"

#include <stdio.h>
#include <string.h>

#include "common/util.h"
#include "worker/driver/prewake.h"
#include "worker/journal/journal.h"
#include "worker/loop/memory_refused.h"
#include "worker/sched/lane.h"

/* The only list of the requests that a tenant can make. */
static const struct job_kind *const kinds[] = {
    [REQ_MALLOC] = &job_malloc,
    [REQ_FREE] = &job_mem_free,
    [REQ_MEM_INFO] = &job_mem_info,
    [REQ_HOST_ALLOC] = &job_host_alloc,
    [REQ_HOST_FREE] = &job_host_free,
    [REQ_MODULE_LOAD] = &job_module_load,
    [REQ_MODULE_UNLOAD] = &job_module_unload,
    [REQ_KERNEL_GET] = &job_kernel_get,
    [REQ_GLOBAL_GET] = &job_global_get,
    [REQ_STREAM_CREATE] = &job_stream_create,
    [REQ_STREAM_DESTROY] = &job_stream_destroy,
    [REQ_EVENT_ELAPSED] = &job_event_elapsed,
    [REQ_GRAPH_CREATE] = &job_graph_create,
    [REQ_GRAPH_DESTROY] = &job_graph_destroy,
    [REQ_MEM_EXPORT] = &job_mem_export,
    [REQ_MEM_IMPORT] = &job_mem_import,
    [REQ_MEM_REVOKE] = &job_mem_revoke,
    [REQ_KERNEL_OCCUPANCY] = &job_kernel_occupancy,
    [REQ_FAULT] = &job_fault,
    [REQ_ARRAY_CREATE] = &job_array_create,
    [REQ_ARRAY_DESTROY] = &job_array_destroy,
    [REQ_TEXTURE_CREATE] = &job_texture_create,
    [REQ_TEXTURE_DESTROY] = &job_texture_destroy,
    [REQ_SURFACE_CREATE] = &job_surface_create,
    [REQ_SURFACE_DESTROY] = &job_surface_destroy,
    [REQ_MODULE_KERNEL] = &job_module_kernel,
    [REQ_GEMM_PREPARE] = &job_gemm_prepare,
    [REQ_KERNEL_HEAP] = &job_kernel_heap,
    [REQ_KERNEL_STACK] = &job_kernel_stack,
    [REQ_ARRAY_LEVEL] = &job_array_level,
};

static void done(struct seg_request *slot)
{
    /* release: publishes the answer; pairs with the client's acquire of state */
    atomic_store_explicit(&slot->state, REQ_DONE, memory_order_release);
    futex_wake(&slot->state);
}

static void refuse(struct seg_request *slot, gs_status status, const char *message)
{
    slot->status = status;
    snprintf(slot->message, sizeof(slot->message), "%s", message);
    done(slot);
}

struct job *request_take(struct session *session)
{
    struct seg_request *slot = session->request;

    /* seq_cst: read after the exchange of activity; also makes the request visible, with the
     * client's store of POSTED */
    if (atomic_load(&slot->state) != REQ_POSTED) {
        /* Where no request is posted, the bit says that the tenant is about to ask the supervisor
         * for another grant. */
        prewake_grant(session->lane->now);
        return NULL;
    }
    uint32_t op = *(volatile uint32_t *)&slot->op; /* read once, then checked and used */
    if (op >= ARRAY_SIZE(kinds) || !kinds[op]) {
        refuse(slot, GS_ERR_INVALID_VALUE, "a request of no known kind");
        return NULL;
    }
    struct job *job = job_new(session, kinds[op]);
    if (!job) {
        refuse(slot, GS_ERR_NO_MEMORY, "the server has no memory for a request");
        return NULL;
    }
    job->serial = slot->serial;
    memcpy(job->arg, slot->arg, sizeof(job->arg));
    /* The job is zeroed, so that a NUL follows the name. */
    memcpy(job->name, slot->name, strnlen(slot->name, sizeof(job->name) - 1));
    memcpy(&job->texture, &slot->payload.texture, sizeof(job->texture));
    memcpy(&job->gemm, slot->payload.bytes, sizeof(job->gemm));
    return job;
}

/* Notes the answer, so that a next worker does not make the request twice. A request whose answer
 * has a payload or a text is made again, which does no harm. */
static void answer_note(const struct job *job)
{
    const bool again = job->kernel || (job->status == GS_OK && job->message[0]);
    struct journal_answer answer = {.serial = again ? 0 : job->serial, .status = job->status};

    memcpy(answer.ret, job->ret, sizeof(answer.ret));
    journal_answer(job->session->journal, &answer);
}

void request_answer(const struct job *job)
{
    struct seg_request *slot = job->session->request;

    slot->status = job->status;
    memcpy(slot->ret, job->ret, sizeof(slot->ret));
    memcpy(slot->message, job->message, strlen(job->message) + 1);
    if (job->kernel && job->status == GS_OK)
        memcpy(&slot->payload.kernel, job->kernel, sizeof(*job->kernel));
    answer_note(job);
    memory_refused_log(job);
    done(slot);
}

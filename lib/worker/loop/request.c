/*
 * request.c - copies a tenant's synchronous request from the slot in its segment into a job, and
 * writes the answer back.
 *
 * The slot is the tenant's memory, so everything is copied once, and the job's steps check the
 * copy.
 */
#include "worker/loop/request.h"

#include <stdio.h>
#include <string.h>

#include "common/util.h"
#include "worker/driver/prewake.h"
#include "worker/journal/journal.h"
#include "worker/loop/memory_refused.h"
#include "worker/sched/lane.h"

static const struct job_kind *const kinds[] = {
#define REQUEST_ROW(op, kind) [op] = &(kind),
    REQUESTS(REQUEST_ROW)
#undef REQUEST_ROW
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

    /* seq_cst: must come after the exchange of the activity word; pairs with the client's store of
     * POSTED, which publishes the request */
    if (atomic_load(&slot->state) != REQ_POSTED) {
        /* A request bit without a request says that the tenant is about to ask the supervisor for
         * another grant. */
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
    const size_t name = strnlen(slot->name, sizeof(job->name) - 1);
    memcpy(job->name, slot->name, name);
    job->name[name] = '\0';
    memcpy(job->payload, slot->payload.bytes, sizeof(job->payload));
    return job;
}

/* Records the answer in the journal, so that the next worker does not carry the request out twice.
 * A request whose answer has a payload or a text is carried out again, which does no harm. */
static void answer_note(const struct job *job)
{
    const bool again = job->kernel || job->reply_bytes || (job->status == GS_OK && job->message[0]);
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
    memcpy(slot->payload.bytes, job->payload, job->reply_bytes);
    answer_note(job);
    memory_refused_log(job);
    done(slot);
}

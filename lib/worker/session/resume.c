/*
 * resume.c - resumes ("takes up") a session whose worker was lost.
 *
 * The session gets its window at its former address, the memory that the vault has kept, and from
 * its journal everything else: host blocks, modules, kernels, streams at their positions, graphs. A
 * session with unfinished work is refused, since it is not known how much of the work was done, or
 * runs it again (GS_ON_FAULT_REPLAY). A session whose journal is incomplete is refused. The tenant
 * of a resumed session notices only a pause.
 *
 * Three jobs follow each other: job_resume makes memory and tables, job_resume_modules makes the
 * modules whose machine code is kept, and job_resume_load has the driver load them at a quiet
 * moment. All other sessions wait meanwhile. So a session is late if its modules must be compiled
 * or take long, or if its host memory takes long to register: it enters the session table early,
 * with its job in progress, and the others go on. A late session compiles in job_resume_compile,
 * which comes after job_resume_modules and obeys the rules for all jobs that compile
 * (jobs/service.c). A session whose modules the driver takes long to load becomes late at that
 * point.
 */
#include "worker/session/resume.h"

#include <stdatomic.h>
#include <string.h>

#include "common/util.h"
#include "worker/journal/journal.h"
#include "worker/memory/host_block.h"
#include "worker/memory/resume.h"
#include "worker/memory/window.h"
#include "worker/module/heap.h"
#include "worker/module/local_memory.h"
#include "worker/module/module.h"
#include "worker/module/print.h"
#include "worker/session/session.h"
#include "worker/submit/graph.h"
#include "worker/submit/stream.h"
#include "worker/texture/tensor_map.h"
#include "worker/texture/texture.h"

/* The most tries of a late session's load; each waits for a quiet moment for up to 10 s. */
#define LATE_TRIES 30u

/* Answers a posted request that the former worker had answered or was about to answer, because it
 * must not be carried out twice. */
static void request_settle(const struct session *session)
{
    struct seg_request *slot = session->request;
    struct journal_answer answer;

    journal_answer_get(session->journal, &answer);
    if (atomic_load(&slot->state) != REQ_POSTED || !answer.serial || slot->serial != answer.serial)
        return;
    slot->status = answer.status;
    memcpy(slot->ret, answer.ret, sizeof(slot->ret));
    slot->message[0] = '\0';
    /* release: publishes the answer; pairs with the client's acquire of state */
    atomic_store_explicit(&slot->state, REQ_DONE, memory_order_release);
    futex_wake(&slot->state);
}

/* Sets all bits of the activity word, because the former worker may have left some unread. */
static void activity_renew(const struct session *session)
{
    atomic_fetch_or(&session->client->activity, UINT64_MAX);
}

static void resume_work(struct job *job)
{
    struct session *session = job->session;
    const char *incomplete;

    session->journal = journal_open(session->resume->journal, session->id, session->uid,
                                    session->resume->prompt_until);
    session->positions = journal_positions(session->journal);
    session->resume->journal = -1;
    incomplete = journal_incomplete(session->journal);
    if (incomplete) {
        job_fail(job, GS_ERR_INTERRUPTED, "the session could not be kept: %s", incomplete);
        return;
    }
    if (session_map(job) == GS_OK && streams_resume(job) == GS_OK && window_init(job) == GS_OK &&
        memory_resume(job, session->resume) == GS_OK && host_blocks_resume(job) == GS_OK &&
        print_resume(job) == GS_OK && heap_resume(job) == GS_OK &&
        tensor_maps_resume(job) == GS_OK && graphs_resume(job) == GS_OK) {
        streams_adopt(session);
        /* Readers wait while the number is odd. */
        session->grant.sequence = (atomic_load(&session->server_page->grant.sequence) + 1) & ~1u;
        return;
    }
    session_deinit(session);
}

static void modules_work(struct job *job)
{
    if (modules_resume(job) != GS_OK)
        session_deinit(job->session);
}

static void compile_work(struct job *job)
{
    if (host_blocks_resume_late(job) != GS_OK || modules_resume_late(job) != GS_OK)
        modules_deinit(job->session);
}

/* Returns whether the load of a late session is tried again. It is if the load lacked a quiet
 * moment, or memory for the session's stack, which comes before all modules: either may come
 * later. */
static bool load_again(const struct job *job)
{
    const struct resume *resume = job->session->resume;

    return resume->late && resume->tries < LATE_TRIES &&
           (job->status == GS_ERR_TIMEOUT ||
            (job->status == GS_ERR_NO_DEVICE_MEMORY && resume->loaded == 0)) &&
           !atomic_load_explicit(&job->session->jobs.closing, memory_order_relaxed);
}

/* Cleans up after a load that has failed. A late session is in the table and is closed like any
 * other, but its modules are freed now, since nobody may use a module that is only half loaded. */
static void load_failed(struct job *job)
{
    struct resume *resume = job->session->resume;

    resume->tries++;
    if (!resume->late)
        session_deinit(job->session);
    else if (!load_again(job))
        modules_deinit(job->session);
}

static void load_work(struct job *job)
{
    struct session *session = job->session;
    const bool first = session->resume->loaded == 0;

    if (job->status != GS_OK || (first && stack_resume(job) != GS_OK) ||
        modules_resume_load(job) != GS_OK ||
        (!modules_unloaded(session) && textures_resume(job) != GS_OK)) {
        load_failed(job);
        return;
    }
    if (modules_unloaded(session))
        return;
    memory_resume_end(job->session);
    resume_drop_rest(job, job->session->resume);
    request_settle(job->session);
    activity_renew(job->session);
}

static const struct job_kind job_resume_load = {
    "resume_load", JOB_PATIENT | JOB_QUIET | JOB_CHORE, NULL, load_work, NULL, NULL};
static const struct job_kind job_resume_compile = {
    "resume_compile", JOB_PATIENT | JOB_COMPILES | JOB_CHORE, NULL, compile_work, NULL,
    &job_resume_load};
static const struct job_kind job_resume_modules = {"resume_modules", JOB_PATIENT, NULL,
                                                   modules_work,     NULL,        &job_resume_load};
const struct job_kind job_resume = {"resume",    JOB_QUICK, NULL,
                                    resume_work, NULL,      &job_resume_modules};

bool resume_is_job(const struct job *job)
{
    return job->kind == &job_resume || job->kind == &job_resume_modules ||
           job->kind == &job_resume_compile || job->kind == &job_resume_load;
}

bool resume_late(const struct job *job)
{
    return job->status == GS_OK && job->session->resume->late &&
           job->session->jobs.current != job && job->kind != &job_resume;
}

bool resume_next(struct job *job)
{
    const bool loads = job->kind == &job_resume_load, late = job->session->resume->late;

    if (loads && load_again(job)) {
        job->status = GS_OK;
        job->message[0] = '\0';
        return true;
    }
    if (job->status != GS_OK)
        return false;
    if (loads)
        return modules_unloaded(job->session);
    job->kind = late && job->kind == &job_resume_modules ? &job_resume_compile : job->kind->then;
    return true;
}

void resume_end(struct job *job)
{
    if (job->status == GS_OK)
        modules_resumed(job->session);
    resume_free(job->session->resume);
    job->session->resume = NULL;
}

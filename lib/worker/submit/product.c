/*
 * product.c - matrix products that the vendor's library computes, in the stream of their record.
 *
 * The record says everything: for its session, nothing of a product is kept except graphs of
 * products that come again (product_graph.c). Its operands are checked against the session's
 * allocations like those of a copy, which also confines them. The algorithm for each problem is
 * kept for all sessions (blas/algorithm.c). A client requests it before its first product of a kind
 * (REQ_GEMM_PREPARE), to learn whether there is one. A record that finds no algorithm, for example
 * after a takeover, waits in its ring until a chore has made it. So does the first record in its
 * stream whose algorithm needs a workspace, or a larger one.
 */
#include "worker/submit/product.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "worker/blas/algorithm.h"
#include "worker/blas/library.h"
#include "worker/blas/workspace.h"
#include "worker/jobs/job.h"
#include "worker/sched/lane.h"
#include "worker/submit/placement.h"
#include "worker/submit/product_graph.h"

/* How many chores in a row may find no quiet moment before the waiting record fails. */
#define TIMEOUTS_MOST 2u

/* ---- Making algorithms -------------------------------------------------------------------------
 *
 * In four stages, of which a request and a chore have kinds of their own: map the library, start it
 * (once in a worker), choose an algorithm, load its kernels. Only the second and the last need a
 * quiet moment. */

static const struct job_kind job_gemm_refused;

/* Notes why a stage failed. A chore's failure is reported to the waiting stream, so the chore
 * itself continues, and its next stage is its last. */
static void stage_fail(struct job *job, gs_status status, const char *text)
{
    if (job->status == GS_OK)
        job_fail(job, status, "%s", text);
    algorithm_free(job->made);
    job->made = NULL;
    if (job->kind->flags & JOB_CHORE) {
        job->kind = &job_gemm_refused;
        job->ret[0] = (uint64_t)job->status;
        job->status = GS_OK;
    }
}

static void problem_find(const struct job *job, struct problem *problem)
{
    struct extents extents;

    /* This cannot fail, because the record was checked when the job began. */
    problem_of(&job->gemm, problem, &extents);
}

static void load_work(struct job *job)
{
    char text[192];
    const gs_status status = library_load(text, sizeof(text));

    if (status != GS_OK)
        stage_fail(job, status, text);
}

static void start_work(struct job *job)
{
    char text[192] = "";
    const gs_status status = job->status == GS_OK ? library_start(text, sizeof(text)) : job->status;

    if (status != GS_OK) /* the library failed, or no quiet moment came */
        stage_fail(job, status, text);
}

static gs_status algorithm_get(struct job *job, char *text, size_t size)
{
    struct algorithm *chosen = NULL;
    struct problem problem;

    problem_find(job, &problem);
    const gs_status status = algorithm_choose(&problem, &chosen, text, size);
    job->made = chosen;
    return status;
}

static void choose_work(struct job *job)
{
    char text[192];
    struct problem problem;

    problem_find(job, &problem);
    if (algorithm_choice_loads(&problem))
        return; /* the next stage chooses */
    const gs_status status = algorithm_get(job, text, sizeof(text));
    if (status != GS_OK)
        stage_fail(job, status, text);
}

static void kernels_work(struct job *job)
{
    char text[192] = "";
    gs_status status = job->status;

    if (status == GS_OK && !job->made)
        status = algorithm_get(job, text, sizeof(text));
    if (status == GS_OK)
        status = algorithm_load(job->made, &job->gemm, service_stream(), text, sizeof(text));
    if (status != GS_OK)
        stage_fail(job, status, text);
}

static void kernels_install(struct job *job)
{
    const struct rec_gemm *r = &job->gemm;

    log_debug("products of %" PRIu32 " x %" PRIu32 " x %" PRIu32 ", types %" PRIu32 " to %" PRIu32
              " in %" PRIu32 ": a workspace of %zu bytes, in a partition of %zu",
              r->m, r->n, r->k, r->inputs, r->output, r->compute,
              algorithm_workspace(job->made, false), algorithm_workspace(job->made, true));
    job->session->submit.product_timeouts = 0;
    algorithm_keep(job->made);
}

/* The stages of a request and of a chore after the first one, which skips those that are done
 * already. */
enum stage { KNOWN, START, CHOOSE, KERNELS };

#define STAGES(prefix, whose, stages)                                                              \
    {                                                                                              \
        [KNOWN] = {.name = prefix "_known", .flags = (whose)},                                     \
        [START] = {.name = prefix "_start",                                                        \
                   .flags = JOB_PATIENT | JOB_QUIET | (whose),                                     \
                   .work = start_work,                                                             \
                   .then = &(stages)[CHOOSE]},                                                     \
        [CHOOSE] = {.name = prefix "_choose",                                                      \
                    .flags = JOB_PATIENT | (whose),                                                \
                    .work = choose_work,                                                           \
                    .then = &(stages)[KERNELS]},                                                   \
        [KERNELS] = {.name = prefix "_kernels",                                                    \
                     .flags = JOB_PATIENT | JOB_QUIET | (whose),                                   \
                     .work = kernels_work,                                                         \
                     .install = kernels_install},                                                  \
    }

static const struct job_kind request_stages[] = STAGES("gemm", JOB_QUICK, request_stages);
static const struct job_kind chore_stages[] = STAGES("gemm_chore", JOB_CHORE, chore_stages);

static void stages_skip(struct job *job, const struct job_kind *stages)
{
    struct problem problem;

    problem_find(job, &problem);
    if (algorithm_find(&problem))
        job->kind = &stages[KNOWN];
    else if (library_handle())
        job->kind = &stages[CHOOSE];
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void prepare_prepare(struct job *job)
{
    struct problem problem;
    struct extents extents;
    const char *fault = problem_of(&job->gemm, &problem, &extents);

    if (fault)
        job_fail(job, GS_ERR_INVALID_VALUE, "%s", fault);
    else if ((fault = record_check_gemm(job->session, &job->gemm, &problem)))
        job_fail(job, GS_ERR_INVALID_POINTER, "%s", fault);
    else
        stages_skip(job, request_stages);
}

const struct job_kind job_gemm_prepare = {"gemm_prepare", JOB_PATIENT, prepare_prepare,
                                          load_work,      NULL,        &request_stages[START]};

/* ---- Chores ---------------------------------------------------------------------------------- */

static void chore_prepare(struct job *job)
{
    stages_skip(job, chore_stages);
}

/* Notes why the product failed. If no quiet moment came, the stream continues to wait, and its next
 * round begins another chore. But all sessions are paused for each chore, so the stream gives up
 * after TIMEOUTS_MOST of them. */
static void refused_install(struct job *job)
{
    struct session_submit *submit = &job->session->submit;
    const gs_status status = (gs_status)job->ret[0];

    if (status == GS_ERR_TIMEOUT && ++submit->product_timeouts < TIMEOUTS_MOST)
        return;
    submit->product_trouble = status;
    snprintf(submit->product_text, sizeof(submit->product_text), "a product: %.170s", job->message);
}

static const struct job_kind job_gemm_refused = {"gemm_refused", JOB_CHORE,       NULL,
                                                 NULL,           refused_install, NULL};

static const struct job_kind job_gemm_chore = {"gemm_chore",  JOB_PATIENT | JOB_CHORE | JOB_PAUSE,
                                               chore_prepare, load_work,
                                               NULL,          &chore_stages[START]};

/* Begins the chore that makes the algorithm. If memory is lacking, the next round tries again. */
static void chore_begin(const struct session *session, const struct rec_gemm *record)
{
    if (session->jobs.current && session->jobs.current->kind->flags & JOB_CHORE)
        return;
    struct job *job = job_new_chore(session, &job_gemm_chore);
    if (!job)
        return;
    job->gemm = *record;
    job_return(job);
}

/* ---- Workspaces ------------------------------------------------------------------------------ */

/* Skips the stages if the workspace is no longer needed: the stream may have been destroyed
 * meanwhile, if its tenant does not wait for its products. */
static void workspace_prepare(struct job *job)
{
    const struct stream *stream = &job->session->submit.streams[job->arg[1]];

    if (!stream->workspace || workspace_holds(stream->workspace, job->arg[2]))
        job->kind = &chore_stages[KNOWN];
}

/* Makes the workspace. A refusal is not a failure, because products run without a workspace too. */
static void workspace_work(struct job *job)
{
    struct workspace *workspace = job->session->submit.streams[job->arg[1]].workspace;

    job->ret[0] = workspace_grow(job, workspace, job->arg[2]);
    job->status = GS_OK;
}

/* Installs the workspace. Destroys the graphs that were made without it, because their products are
 * faster with it. */
static void workspace_install(struct job *job)
{
    struct session *session = job->session;
    struct stream *stream = &session->submit.streams[job->arg[1]];

    stream->workspace->growing = false;
    if (!job->ret[0]) {
        log_debug("session %" PRIu64 ": products without a workspace of %" PRIu64 " bytes: %s",
                  session->id, job->arg[2], job->message);
        stream->workspace->refused = session->memory.generation + 1;
        return;
    }
    workspace_grown(stream->workspace, job->ret[0]);
    stream->workspace->refused = 0;
    product_graphs_free(stream->product_graphs);
    stream->product_graphs = NULL;
}

static const struct job_kind job_gemm_workspace = {
    "gemm_workspace", JOB_CHORE, workspace_prepare, workspace_work, workspace_install, NULL};

static void workspace_begin(const struct session *session, uint32_t index, size_t bytes)
{
    struct job *job = job_new_chore(session, &job_gemm_workspace);

    if (!job)
        return;
    session->submit.streams[index].workspace->growing = true;
    job->arg[1] = index;
    job->arg[2] = bytes;
    job_return(job);
}

/* Returns whether the stream must wait for a workspace of this size. A workspace that was refused
 * is requested again once the session has freed something. */
static bool workspace_awaited(struct session *session, uint32_t index, size_t bytes)
{
    struct workspace **workspace = &session->submit.streams[index].workspace;

    if (workspace_holds(*workspace, bytes))
        return false;
    if (!*workspace)
        *workspace = calloc(1, sizeof(**workspace));
    if (!*workspace || (*workspace)->refused == session->memory.generation + 1)
        return false;
    if (!(*workspace)->growing)
        workspace_begin(session, index, bytes);
    return true;
}

/* ---- Issuing --------------------------------------------------------------------------------- */

static gs_status product_run(struct session *session, struct stream *stream,
                             const struct algorithm *algorithm, const struct rec_gemm *record,
                             struct partition *partition, char *text, size_t size)
{
    bool issued;
    gs_status status =
        product_graph_launch(session, stream, record, partition, algorithm, &issued, text, size);

    if (status == GS_OK && !issued)
        status = algorithm_run(algorithm, record, stream->workspace, stream->cu, text, size);
    /* finds out whether the context is lost, which the library does not tell */
    if (status != GS_OK)
        DRV_ASK(cuStreamQuery, stream->cu);
    return status;
}

enum outcome product_issue(struct session *session, uint32_t index, const struct rec_gemm *record)
{
    struct session_submit *submit = &session->submit;
    struct stream *stream = &submit->streams[index];
    struct problem problem;
    char text[192];
    record_refusal refusal = record_check_gemm(session, record, &problem);

    if (refusal)
        return record_rejected(session, index, refusal);
    const struct algorithm *algorithm = algorithm_find(&problem);
    if (!algorithm && submit->product_trouble != GS_OK)
        return record_impossible(session, index, submit->product_trouble, NULL,
                                 submit->product_text);
    if (!algorithm) {
        chore_begin(session, record);
        return RECORD_STALLED;
    }
    struct partition *partition = placement_of(session, stream->cls);
    if (workspace_awaited(session, index, algorithm_workspace(algorithm, partition != NULL)))
        return RECORD_STALLED;
    const gs_status status =
        product_run(session, stream, algorithm, record, partition, text, sizeof(text));
    return status == GS_OK ? RECORD_TAKEN : record_impossible(session, index, status, NULL, text);
}

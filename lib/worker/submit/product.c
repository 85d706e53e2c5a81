/*
 * product.c - products of matrices that the vendor's library computes, in the stream in which their
 * record stands.
 *
 * The record says all: nothing of a product is kept for its session but graphs of those that come
 * again (product_graph.c). Its operands are checked against the session's allocations as those of a
 * copy are, which is also what fences them. What is kept, for all sessions, is the algorithm for
 * each problem (blas/algorithm.c). A client asks for it before its first product of a kind
 * (REQ_GEMM_PREPARE), so that it learns whether there is one. A record that finds none, as after a
 * takeover, waits in its ring until a chore has made it.
 */
#include "worker/submit/product.h"

#include <stdio.h>

#include "worker/blas/algorithm.h"
#include "worker/blas/library.h"
#include "worker/jobs/job.h"
#include "worker/sched/lane.h"
#include "worker/submit/placement.h"
#include "worker/submit/product_graph.h"

/* ---- Making algorithms ----------------------------------------------------------------------- */

/* The job's product. False: the job has failed. */
static bool problem_find(struct job *job, struct problem *problem)
{
    struct extents extents;
    const char *fault = problem_of(&job->gemm, problem, &extents);

    if (fault)
        job_fail(job, GS_ERR_INVALID_VALUE, "%s", fault);
    return !fault;
}

static void make_work(struct job *job)
{
    struct algorithm *made = NULL;
    struct problem problem;
    char text[192] = "";

    if (job->status != GS_OK || !problem_find(job, &problem))
        return; /* no quiet moment came */
    gs_status status = library_start(text, sizeof(text));
    if (status == GS_OK)
        status = algorithm_choose(&problem, &made, text, sizeof(text));
    if (status == GS_OK)
        status = algorithm_load(made, &job->gemm, service_stream(), text, sizeof(text));
    if (status != GS_OK) {
        algorithm_free(made);
        made = NULL;
    }
    if (status != GS_OK)
        job_fail(job, status, "%s", text);
    job->made = made;
}

static void make_install(struct job *job)
{
    algorithm_keep(job->made);
}

static void load_work(struct job *job)
{
    char text[192];
    const gs_status status = library_load(text, sizeof(text));

    if (status != GS_OK)
        job_fail(job, status, "%s", text);
}

static const struct job_kind job_gemm_make = {
    "gemm_make", JOB_PATIENT | JOB_QUIET, NULL, make_work, make_install, NULL};
static const struct job_kind job_gemm_known = {"gemm_known", JOB_QUICK, NULL, NULL, NULL, NULL};

static void prepare_prepare(struct job *job)
{
    struct problem problem;

    if (!problem_find(job, &problem))
        return;
    if (algorithm_find(&problem))
        job->kind = &job_gemm_known;
    else if (library_handle())
        job->kind = &job_gemm_make;
}

const struct job_kind job_gemm_prepare = {"gemm_prepare", JOB_PATIENT, prepare_prepare,
                                          load_work,      NULL,        &job_gemm_make};

/* ---- Chores ---------------------------------------------------------------------------------- */

static const struct job_kind job_gemm_chore_known = {
    "gemm_chore_known", JOB_CHORE, NULL, NULL, NULL, NULL};

static void chore_prepare(struct job *job)
{
    struct problem problem;

    if (problem_find(job, &problem) && algorithm_find(&problem))
        job->kind = &job_gemm_chore_known;
}

/* A failure is for the stream that waits, so the job itself succeeds, unless no quiet moment came:
 * then the stream goes on waiting. */
static void chore_work(struct job *job)
{
    if (job->status != GS_OK)
        return;
    make_work(job);
    job->ret[0] = (uint64_t)job->status;
    job->status = GS_OK;
}

static void chore_install(struct job *job)
{
    struct session_submit *submit = &job->session->submit;

    submit->product_trouble = (gs_status)job->ret[0];
    if (submit->product_trouble == GS_OK)
        algorithm_keep(job->made);
    else
        snprintf(submit->product_text, sizeof(submit->product_text), "%.190s", job->message);
}

static const struct job_kind job_gemm_chore = {
    "gemm_chore",  JOB_PATIENT | JOB_QUIET | JOB_CHORE | JOB_IDLE,
    chore_prepare, chore_work,
    chore_install, NULL};

/* Begins the chore that makes the algorithm. Without memory for the chore, the next round tries
 * again. */
static void chore_begin(const struct session *session, const struct rec_gemm *record)
{
    if (session->jobs.current && session->jobs.current->kind == &job_gemm_chore)
        return;
    struct job *job = job_new(NULL, &job_gemm_chore);
    if (!job)
        return;
    job->index = session->slot;
    job->arg[0] = session->id;
    job->gemm = *record;
    job_return(job);
}

/* ---- Issuing --------------------------------------------------------------------------------- */

static gs_status product_run(const struct algorithm *algorithm, const struct rec_gemm *record,
                             struct partition *partition, struct stream *stream, char *text,
                             size_t size)
{
    bool issued;
    gs_status status =
        product_graph_launch(stream, record, partition, algorithm, &issued, text, size);

    if (status == GS_OK && !issued)
        status = algorithm_run(algorithm, record, stream->cu, text, size);
    if (status != GS_OK) { /* the library does not tell whether the context is lost */
        const CUresult result = cu->cuStreamQuery(stream->cu);
        if (driver_fatal(result))
            device_lost(result);
    }
    return status;
}

enum product_outcome product_issue(struct session *session, uint32_t index,
                                   const struct rec_gemm *record, record_fault *fault,
                                   gs_status *status, char *text, size_t size)
{
    struct session_submit *submit = &session->submit;
    struct stream *stream = &submit->streams[index];
    struct problem problem;

    *fault = record_check_gemm(session, record, &problem);
    if (*fault)
        return PRODUCT_INVALID;
    const struct algorithm *algorithm = algorithm_find(&problem);
    if (!algorithm && submit->product_trouble != GS_OK) {
        *status = submit->product_trouble;
        snprintf(text, size, "%s", submit->product_text);
        return PRODUCT_FAILED;
    }
    if (!algorithm) {
        chore_begin(session, record);
        return PRODUCT_WAITS;
    }
    *status =
        product_run(algorithm, record, placement_of(session, stream->cls), stream, text, size);
    return *status == GS_OK ? PRODUCT_ISSUED : PRODUCT_FAILED;
}

/* job.c - see job.h. */
#include "worker/jobs/job.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/journal/journal.h"

void job_removes(const struct job *job, enum journal_kind kind, uint64_t key)
{
    const struct journal_answer answer = {.serial = job->serial,
                                          .status = GS_OK,
                                          .change = JOURNAL_REMOVES,
                                          .kind = kind,
                                          .key = key};

    journal_answer(job->session->journal, &answer);
}

void job_makes(const struct job *job, enum journal_kind kind, uint64_t key)
{
    struct journal_answer answer = {
        .serial = job->serial, .status = GS_OK, .change = JOURNAL_MAKES, .kind = kind, .key = key};

    memcpy(answer.ret, job->ret, sizeof(answer.ret));
    journal_answer(job->session->journal, &answer);
}

struct job *job_new(struct session *session, const struct job_kind *kind)
{
    struct job *job = malloc(sizeof(*job));

    if (job) {
        memset(job, 0, offsetof(struct job, name));
        job->name[0] = job->message[0] = '\0';
        job->session = session;
        job->kind = kind;
    }
    return job;
}

struct job *job_new_chore(const struct session *session, const struct job_kind *kind)
{
    struct job *job = job_new(NULL, kind);

    if (job) {
        job->index = session->slot;
        job->arg[0] = session->id;
    }
    return job;
}

void job_free(struct job *job)
{
    if (job)
        free(job->kernel);
    free(job);
}

gs_status job_fail(struct job *job, gs_status status, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(job->message, sizeof(job->message), format, ap);
    va_end(ap);
    return job->status = status;
}

gs_status job_go_on(struct job *job)
{
    if (!atomic_load_explicit(&job->session->jobs.closing, memory_order_relaxed))
        return GS_OK;
    return job_fail(job, GS_ERR_INTERRUPTED, "the session is being closed");
}

void job_compile_begin(const struct job *job)
{
    atomic_fetch_add_explicit(&job->session->stats->compiling, 1, memory_order_relaxed);
}

void job_compile_end(const struct job *job)
{
    atomic_fetch_sub_explicit(&job->session->stats->compiling, 1, memory_order_relaxed);
}

gs_status job_takes_long(struct job *job)
{
    job->brief = false;
    return job_fail(job, GS_NOT_READY, "the job takes long");
}

gs_status job_fail_driver(struct job *job, CUresult result)
{
    lost_check(result);
    driver_describe(job->message, sizeof(job->message));
    return job->status = driver_status(result);
}

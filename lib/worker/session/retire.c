/* retire.c - see retire.h. */
#include "worker/session/retire.h"

#include <stdio.h>
#include <unistd.h>

#include "common/util.h"
#include "worker/driver/supervisor_link.h"
#include "worker/journal/journal.h"
#include "worker/sched/session_table.h"
#include "worker/session/quiet.h"
#include "worker/submit/report.h"

/* The longest wait for a quiet moment when no service thread has a job. */
#define LIMIT_NS 10000000000u

/* The job has nothing to do: it only waits for a quiet moment. */
static void retire_work(struct job *job)
{
    (void)job;
}

const struct job_kind job_retire = {"retire", JOB_PATIENT | JOB_QUIET, NULL, retire_work, NULL,
                                    NULL};

/* Returns a session that would end with the worker; NULL: there is none. */
static const struct session *session_bound(void)
{
    for (struct session *s = session_table_next(NULL); s; s = session_table_next(s)) {
        if (s->phase == SESSION_LIVE && journal_incomplete(s->journal))
            return s;
    }
    return NULL;
}

static void refuse(const struct job *job)
{
    struct link_message message = {.op = LINK_RETIRED, .slot = LINK_SLOT_NONE};

    message.u.retired = job->status;
    snprintf(message.text, sizeof(message.text), "%.190s", job->message);
    link_send(&message, -1);
}

static _Noreturn void retire(void)
{
    const struct link_message message = {.op = LINK_RETIRED, .slot = LINK_SLOT_NONE};

    for (struct session *s = session_table_next(NULL); s; s = session_table_next(s))
        reports_poll(s);
    link_send(&message, -1);
    link_await_end();
}

void retire_step(struct job *job)
{
    const uint64_t now = clock_ns();
    const struct session *bound = job->arg[0] ? NULL : session_bound();

    if (!job->arg[1])
        job->arg[1] = now + LIMIT_NS;
    if (job->status == GS_OK && bound)
        job_fail(job, GS_ERR_REFUSED, "session %llu would end: %s", (unsigned long long)bound->id,
                 journal_incomplete(bound->journal));
    if (job->status == GS_OK && now > job->arg[1])
        job_fail(job, GS_ERR_TIMEOUT, "the tenants have always had something allocated or loaded");
    if (job->status != GS_OK) {
        refuse(job);
        job_free(job);
        return;
    }
    /* The main lane has issued nothing since the quiet moment began. Nor is any job with the
     * service threads, or back but not answered yet (in this batch or after it). */
    if (job->waiting_ns && !job->next && service_idle() && !jobs_returned())
        retire();
    quiet_add(job, now);
}

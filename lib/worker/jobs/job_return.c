/* job_return.c - hands jobs to the main lane through a lock-free stack; see job.h. */
#include "worker/driver/wake.h"
#include "worker/jobs/job.h"

static _Atomic(struct job *) returned; /* newest first */

void job_return(struct job *job)
{
    struct job *head = atomic_load_explicit(&returned, memory_order_relaxed);

    do {
        job->next = head;
        /* seq_cst: stores the job before dispatch_wake checks whether the main lane sleeps; pairs
         * with waker_doze */
    } while (!atomic_compare_exchange_weak(&returned, &head, job));
    dispatch_wake();
}

bool jobs_returned(void)
{
    return atomic_load(&returned);
}

struct job *jobs_take(void)
{
    struct job *first = NULL;

    if (!atomic_load_explicit(&returned, memory_order_relaxed))
        return NULL;
    /* acquire: makes the jobs' contents visible; pairs with job_return */
    for (struct job *job = atomic_exchange_explicit(&returned, NULL, memory_order_acquire); job;) {
        struct job *older = job->next;
        job->next = first;
        first = job;
        job = older;
    }
    return first;
}

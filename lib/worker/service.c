/*
 * service.c - threads for slow driver calls, so that one tenant's compilation holds up neither
 * another's allocation nor any launch.
 *
 * Jobs come in through a lock-free stack (the dispatcher never waits for a service thread) and are
 * put in order by whichever service thread wakes first, under a lock that only service threads
 * take.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "common/util.h"
#include "worker/expect.h"
#include "worker/job.h"
#include "worker/wake.h"
#include "worker/warm_heap.h"

/* What may wait for the device must not hold up what does not (attaching, allocating); and while a
 * quiet job is on its way nobody's work is taken, so it must not wait behind compilations. */
struct pool {
    const char *name; /* of its threads, as ps -L and gdb tell it */
    int threads;
    _Atomic(struct job *) inbox; /* newest first */
    sem_t *ready;                /* counts jobs, and mere calls to wake up */
    sem_t own;
    pthread_mutex_t lock; /* of first */
    struct job *first;    /* oldest first */
};
static struct pool quick = {.name = "gs-quick", .threads = 3, .lock = PTHREAD_MUTEX_INITIALIZER};
static struct pool patient = {
    .name = "gs-patient", .threads = 3, .lock = PTHREAD_MUTEX_INITIALIZER};
static struct pool quiet = {.name = "gs-quiet", .threads = 1, .lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local CUstream own_stream;

CUstream service_stream(void)
{
    return own_stream;
}

static struct pool *pool_of(const struct job *job)
{
    if (job->kind->flags & JOB_QUIET)
        return &quiet;
    return job->kind->flags & JOB_PATIENT ? &patient : &quick;
}

void service_push(struct job *job)
{
    struct pool *pool = pool_of(job);
    struct job *head = atomic_load_explicit(&pool->inbox, memory_order_relaxed);

    do {
        job->next = head;
        /* release: the job's contents, for the exchange in pop() */
    } while (!atomic_compare_exchange_weak_explicit(&pool->inbox, &head, job, memory_order_release,
                                                    memory_order_relaxed));
    sem_post(pool->ready);
}

/* The oldest job. NULL: the thread was only to wake up. */
static struct job *pop(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    if (!pool->first) {
        /* acquire: pairs with service_push */
        struct job *job = atomic_exchange_explicit(&pool->inbox, NULL, memory_order_acquire);
        while (job) {
            struct job *older = job->next;
            job->next = pool->first;
            pool->first = job;
            job = older;
        }
    }
    struct job *job = pool->first;
    if (job)
        pool->first = job->next;
    pthread_mutex_unlock(&pool->lock);
    return job;
}

/* Is there a job for the quiet thread, or the announcement of one? */
static bool quiet_wanted(void)
{
    int posts;

    return sem_getvalue(quiet.ready, &posts) == 0 && posts > 0;
}

/* Until the semaphore is posted. */
static void pool_wait(struct pool *pool)
{
    while (pool == &quiet && expecting(EXPECT_QUIET, clock_ns())) {
        if (sem_trywait(pool->ready) == 0)
            return;
        sched_yield();
    }
    if (pool == &quiet) /* it makes the partitions */
        warm_heap_fill(quiet_wanted);
    while (sem_wait(pool->ready))
        ;
}

static void *service_main(void *argument)
{
    struct pool *pool = argument;

    DRV_MUST(cuCtxSetCurrent, worker.context);
    DRV_MUST(cuStreamCreate, &own_stream, CU_STREAM_NON_BLOCKING);
    for (;;) {
        pool_wait(pool);
        struct job *job = pop(pool);
        if (!job)
            continue;
        if (pool == &quiet)
            expect_met(EXPECT_QUIET);
        job->kind->work(job);
        void (*const after)(void) = job->after;
        job_return(job);
        if (after)
            after();
    }
    return NULL;
}

static bool pool_start(struct pool *pool)
{
    pool->ready = pool == &quiet ? quiet_semaphore() : &pool->own;
    sem_init(pool->ready, 0, 0);
    for (int i = 0; i < pool->threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, service_main, pool))
            return false;
        pthread_setname_np(thread, pool->name);
        pthread_detach(thread);
    }
    return true;
}

bool service_start(void)
{
    return pool_start(&quick) && pool_start(&patient) && pool_start(&quiet);
}

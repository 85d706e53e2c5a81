/*
 * local_memory.c - local memory: the frames of a kernel, which the compiler knows, and the stack
 * for calls whose depth it does not know (recursion, functions by address), which has the size that
 * a session asks for. The driver gives every thread that the device can have at a time as much as
 * the kernel that wants the most, and takes that from everybody's memory: each KiB is 264 MiB of an
 * H200. So a user's limit of the driver's memory bounds it, each kernel and each stack by itself.
 *
 * Measured (bench/driver_facts_stack.c): cuCtxSetLimit takes the memory at once, waits for every
 * kernel, and all launches wait with it; green contexts have the stack too. An executable graph
 * keeps the stack of its first launch: with a smaller one it goes on, but a kernel of it that goes
 * deeper ends the context, and so does every graph that was first launched with more than the limit
 * now is. So the limit only grows in a worker's life. A worker that has raised it is replaced when
 * it has no sessions.
 */
#include "worker/module/local_memory.h"

#include <inttypes.h>
#include <time.h>

#include "common/size_text.h"
#include "worker/driver/supervisor_link.h"
#include "worker/jobs/job.h"
#include "worker/journal/journal.h"
#include "worker/memory/limits.h"
#include "worker/memory/resume.h"
#include "worker/submit/graph.h"
#include "worker/submit/graph_cache.h"

#define STACK_BYTES  UINT64_C(1024) /* cudaLimitStackSize as CUDA has it */
/* By so much the frames of a chain of calls may be larger with the fence: a frame of 24 bytes was
 * seen to become one of 32. */
#define FRAME_GROWTH 512u
/* Variables of more bytes are most likely the kernel's own, for which the driver makes room. */
#define MOST_FRAMES  8192u
#define FORMER_MS    2000u /* how long a former worker may still have memory */
#define RETRY_MS     20u

/* The context's limit. The quiet thread. */
static uint64_t stack_now = STACK_BYTES;

/* That the device can have at a time. */
static uint64_t device_threads(void)
{
    const struct link_device *device = &worker->info;

    return (uint64_t)device->sm_count *
           (uint64_t)device->attribute[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR];
}

static bool local_memory_fits(const struct session *session, uint64_t bytes)
{
    const uint64_t threads = device_threads(), limit = memory_limits(session).driver;

    return !limit || session->resume || !threads || bytes <= limit / threads;
}

/* Whether the session may have something that takes so many bytes for each thread of the device. If
 * not, the job has failed. */
static gs_status local_memory_admit(struct job *job, const char *what, uint64_t bytes)
{
    const uint64_t threads = device_threads(), limit = memory_limits(job->session).driver;
    char most[SIZE_TEXT_MAX];

    if (local_memory_fits(job->session, bytes))
        return GS_OK;
    return job_fail(job, GS_ERR_LIMIT,
                    "%s takes %" PRIu64 " bytes for each of the %" PRIu64
                    " threads that the device can have, the user's sessions may have %s in all "
                    "(user-driver-mem)",
                    what, bytes, threads, size_exact(most, limit));
}

gs_status local_memory_check(struct job *job, uint32_t bytes)
{
    return local_memory_admit(job, "the kernel's local memory", bytes);
}

/* ---- The stack ------------------------------------------------------------------------------- */

static CUresult limit_raise(uint64_t bytes)
{
    const struct link_message raised = {.op = LINK_NEEDS_RECYCLING, .slot = LINK_SLOT_NONE};
    CUresult result = CUDA_SUCCESS;

    if (bytes <= stack_now)
        return result;
    result = DRV(cuCtxSetLimit, CU_LIMIT_STACK_SIZE, bytes);
    if (result)
        return result;
    if (stack_now == STACK_BYTES)
        link_send(&raised, -1);
    stack_now = bytes;
    return result;
}

static gs_status stack_raise(struct job *job, uint64_t bytes)
{
    const CUresult result = limit_raise(bytes);

    if (result == CUDA_ERROR_INVALID_VALUE)
        return job_fail(job, GS_ERR_INVALID_VALUE,
                        "a stack of %" PRIu64 " bytes is more than the driver gives a thread",
                        bytes);
    return result ? job_fail_driver(job, result) : GS_OK;
}

/* Makes a stack of which the program has so many bytes, and the fence what it takes besides. False:
 * there is no room for both. */
static bool fence_stack_raise(const struct session *session, uint64_t bytes)
{
    bytes += session->module.fence_stack;
    return local_memory_fits(session, bytes) && limit_raise(bytes) == CUDA_SUCCESS;
}

void stack_make_up(struct session *session, uint64_t frames)
{
    const uint64_t bytes = (frames < MOST_FRAMES ? frames : MOST_FRAMES) + FRAME_GROWTH;

    if (!frames || bytes <= session->module.fence_stack)
        return;
    session->module.fence_stack = (uint32_t)bytes;
    fence_stack_raise(session, session->module.stack ? session->module.stack : STACK_BYTES);
}

static const struct job_kind job_kernel_stack_there = {
    "kernel_stack_there", JOB_QUICK, NULL, NULL, NULL, NULL};

/* A request that changes nothing, or is refused, takes no quiet moment from everybody. */
static void kernel_stack_prepare(struct job *job)
{
    const uint64_t bytes = job->arg[0];

    if (bytes <= STACK_BYTES || bytes <= job->session->module.stack)
        job->kind = &job_kernel_stack_there;
    else
        local_memory_admit(job, "a stack", bytes);
}

static void kernel_stack_work(struct job *job)
{
    struct session *session = job->session;
    const uint64_t bytes = job->arg[0], value[JOURNAL_VALUES] = {bytes};

    /* In one step, since all wait for each. */
    if (job->status != GS_OK ||
        (!fence_stack_raise(session, bytes) && stack_raise(job, bytes) != GS_OK))
        return;
    /* The session has nothing on the device, and its new work waits. */
    graph_caches_clear(session);
    graphs_renew(session);
    session->module.stack = (uint32_t)bytes; /* no driver gives a thread a GiB */
    journal_put(session->journal, JOURNAL_STACK, 0, value, NULL, 0);
}

/* The former worker may still have the same stack, until the supervisor has ended it, which it does
 * once the sessions are taken up or a second has passed (workers/former.c). */
gs_status stack_resume(struct job *job)
{
    const struct journal_entry *e = journal_find(job->session->journal, JOURNAL_STACK, 0);

    if (!e)
        return GS_OK;
    job->session->module.stack = (uint32_t)e->value[0];
    /* By the time that a session is late the former worker has gone. */
    const unsigned most = job->session->resume->late ? 0 : FORMER_MS / RETRY_MS;

    for (unsigned tries = 0;
         stack_raise(job, e->value[0]) == GS_ERR_NO_DEVICE_MEMORY && tries < most; tries++) {
        nanosleep(&(struct timespec){.tv_nsec = RETRY_MS * 1000000L}, NULL);
        job->status = GS_OK;
    }
    return job->status;
}

const struct job_kind job_kernel_stack = {"kernel_stack",
                                          JOB_SESSION_IDLE | JOB_PATIENT | JOB_QUIET,
                                          kernel_stack_prepare,
                                          kernel_stack_work,
                                          NULL,
                                          NULL};

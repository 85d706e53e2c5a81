/*
 * cooperative.c - cooperative launches: all blocks of a grid run at once, so that they may wait for
 * one another.
 *
 * If two such grids shared an SM, each could have some of its blocks there and wait for the rest
 * for ever. The driver's documentation does not say that it keeps grids of different contexts
 * apart, and partitions are contexts. So a cooperative grid waits for every earlier one with which
 * it shares an SM. A grid is issued only when its stream has nothing else on the device, since
 * otherwise a tenant could keep others waiting by an endless kernel before its own grid. And a user
 * has only a few grids at a time, since otherwise another user's grid would wait for one grid in
 * each of the user's streams. In a fenced session, a grid also waits for all earlier ones of its
 * session, because the kernels of a module share the workspace of their barriers
 * (ptx/rewrite/grid_pass.c).
 */
#include "worker/submit/cooperative.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ptx/rewrite/rewrite.h"
#include "worker/jobs/job.h"
#include "worker/memory/user.h"
#include "worker/partition/partition.h"

#define RUNNING_MAX 32u
/* The most grids of a user that share SMs. One of them runs; the others are issued already, so that
 * the device need not wait for the lane. */
#define USER_MAX    4u
/* The most grids of a user on any SMs, so that another user's grid finds a free entry. */
#define USER_ALL    (RUNNING_MAX / 2)

/* The cooperative grids that may not have ended. */
static struct running {
    CUevent end; /* NULL: never used */
    bool busy;
    struct sm_mask sms;
    const struct session *session; /* only for comparison: the session may be freed */
    uint32_t uid;
} running[RUNNING_MAX];
static uint32_t running_last; /* the newest grid's entry */
static uint32_t running_next; /* the entry for the grid that is being launched */

static CUresult blocks_of_sm(const struct kernel *kernel, uint64_t threads, uint32_t dynamic_smem,
                             int *blocks)
{
    return DRV(cuOccupancyMaxActiveBlocksPerMultiprocessor, blocks, kernel->function, (int)threads,
               dynamic_smem);
}

bool cooperative_fits(const struct launch *launch, char *text, size_t size)
{
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    const uint64_t blocks = launch_threads(launch) / threads;
    const uint32_t sms = launch->partition ? launch->partition->sm_count : worker->info.sm_count;
    int each;

    CUresult result = blocks_of_sm(launch->kernel, threads, launch->dynamic_smem, &each);
    lost_check(result);
    if (result) {
        driver_describe(text, size);
        return false;
    }
    snprintf(text, size,
             "a cooperative launch of %" PRIu64 " blocks on %" PRIu32 " SMs that hold %d each at "
             "once",
             blocks, sms, each);
    return blocks <= (uint64_t)each * sms;
}

/* Returns whether the grid of this entry has ended. */
static bool has_ended(struct running *r)
{
    if (r->busy)
        r->busy = DRV_ASK(cuEventQuery, r->end) == CUDA_ERROR_NOT_READY;
    return !r->busy;
}

static bool must_wait(const struct running *r, const struct session *session,
                      const struct sm_mask *sms)
{
    return sm_mask_meets(&r->sms, sms) || (session->fenced && r->session == session);
}

static struct sm_mask sms_of(const struct launch *launch)
{
    return launch->partition ? launch->partition->mask : sm_mask_first(worker->info.sm_count);
}

bool cooperative_ready(const struct session *session, const struct stream *stream,
                       const struct launch *launch)
{
    const struct sm_mask sms = sms_of(launch);
    const uint32_t most = users_several() ? USER_ALL : RUNNING_MAX;
    uint32_t before = 0, all = 0;

    for (uint32_t i = 0; i < RUNNING_MAX && before < USER_MAX && all < most; i++) {
        if (running[i].uid != session->uid || has_ended(&running[i]))
            continue;
        before += must_wait(&running[i], session, &sms);
        all++;
    }
    return before < USER_MAX && all < most &&
           DRV_ASK(cuStreamQuery, stream->cu) != CUDA_ERROR_NOT_READY;
}

CUresult cooperative_begin(const struct session *session, const struct launch *launch,
                           CUstream stream)
{
    const struct sm_mask sms = sms_of(launch);
    /* If no entry is free, the oldest grid's is used, and the new grid waits for that one. */
    uint32_t entry = (running_last + 1) % RUNNING_MAX;
    CUresult result = CUDA_SUCCESS;

    for (uint32_t i = 0; i < RUNNING_MAX && !has_ended(&running[entry]); i++)
        entry = (entry + 1) % RUNNING_MAX;
    struct running *new = &running[entry];
    for (uint32_t i = 0; i < RUNNING_MAX && !result; i++) {
        struct running *r = &running[i];
        if (!has_ended(r) && (r == new || must_wait(r, session, &sms)))
            result = DRV(cuStreamWaitEvent, stream, r->end, 0);
    }
    if (!result && !new->end)
        result = DRV(cuEventCreate, &new->end, CU_EVENT_DISABLE_TIMING);
    /* Clears the barrier, because the tenant can write it, and a grid may have been lost midway. */
    if (!result && launch->kernel->barrier)
        result = DRV(cuMemsetD8Async, launch->kernel->barrier, 0, GRID_BYTES, stream);
    running_next = entry;
    return result;
}

CUresult cooperative_end(const struct session *session, const struct launch *launch,
                         CUstream stream)
{
    struct running *new = &running[running_next];
    const CUresult result = DRV(cuEventRecord, new->end, stream);

    if (result)
        return result; /* the entry is still that of the grid before, if that has not ended */
    new->busy = true;
    new->sms = sms_of(launch);
    new->session = session;
    new->uid = session->uid;
    running_last = running_next;
    return CUDA_SUCCESS;
}

/* ---- The request ----------------------------------------------------------------------------- */

static struct wire_cluster cluster_asked(const struct job *job)
{
    struct wire_cluster cluster;

    memcpy(&cluster, &job->arg[3], sizeof(cluster));
    return cluster;
}

/* Asks the driver how many clusters of the size the device can run at once: only the driver knows
 * which SMs can form a cluster. Its documentation does not say how long this call takes, so no lane
 * makes it. */
static void clusters_work(struct job *job)
{
    const struct kernel *kernel = job->object;
    const struct wire_cluster size = cluster_asked(job);
    int clusters;

    CUlaunchAttribute attribute = cluster_attribute(size.dim);
    const CUlaunchConfig config = {.gridDimX = size.dim[0],
                                   .gridDimY = size.dim[1],
                                   .gridDimZ = size.dim[2],
                                   .blockDimX = (uint32_t)job->arg[1],
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .sharedMemBytes = (uint32_t)job->arg[2],
                                   .attrs = &attribute,
                                   .numAttrs = 1};
    const CUresult result =
        DRV_ASK(cuOccupancyMaxActiveClusters, &clusters, kernel->function, &config);
    lost_check(result);
    if (result)
        job_fail(job, GS_ERR_LAUNCH_CONFIG, "kernel %s has no such clusters", kernel->name);
    else
        job->ret[1] = (uint64_t)clusters;
}

static const struct job_kind job_kernel_clusters = {"kernel_clusters", JOB_QUICK, NULL,
                                                    clusters_work,     NULL,      NULL};

/* Turns the job into one whose service thread asks for clusters. */
static void clusters_prepare(struct job *job, struct kernel *kernel)
{
    const struct wire_cluster size = cluster_asked(job);
    const uint32_t grid[3] = {size.dim[0], size.dim[1], size.dim[2]};

    if (!cluster_blocks(&size, grid)) {
        job_fail(job, GS_ERR_LAUNCH_CONFIG, "clusters of more than %u blocks, or of none",
                 GS_CLUSTER_BLOCKS);
        return;
    }
    job->object = kernel;
    job->kind = &job_kernel_clusters;
}

/* arg: kernel, threads per block, bytes of dynamic shared memory, a wire_cluster or 0. */
static void occupancy_prepare(struct job *job)
{
    struct kernel *kernel = job->arg[0] < UINT32_MAX
                                ? kernel_find(&job->session->kernels, (uint32_t)job->arg[0])
                                : NULL;
    int blocks;

    if (!kernel) {
        job_fail(job, GS_ERR_INVALID_HANDLE, "kernel %" PRIu64 " does not exist", job->arg[0]);
    } else if (job->arg[1] == 0 || job->arg[1] > kernel->max_threads) {
        job_fail(job, GS_ERR_LAUNCH_CONFIG,
                 "a block of %" PRIu64 " threads: kernel %s can have 1 to %" PRIu32, job->arg[1],
                 kernel->name, kernel->max_threads);
    } else if (job->arg[2] > kernel->max_dynamic_smem) {
        job_fail(job, GS_ERR_LAUNCH_CONFIG,
                 "dynamic shared memory of %" PRIu64 " bytes is beyond the %" PRIu32
                 " that kernel %s can have",
                 job->arg[2], kernel->max_dynamic_smem, kernel->name);
    } else {
        CUresult result = blocks_of_sm(kernel, job->arg[1], (uint32_t)job->arg[2], &blocks);
        if (result)
            job_fail_driver(job, result);
        else
            job->ret[0] = (uint64_t)blocks;
        if (!result && job->arg[3])
            clusters_prepare(job, kernel);
    }
}

const struct job_kind job_kernel_occupancy = {
    "kernel_occupancy", JOB_QUICK, occupancy_prepare, NULL, NULL, NULL};

/*
 * host_block.c - host blocks: host memory shared with a tenant, for gs_host_alloc, for staging, and
 * for images.
 *
 * The worker makes each block itself, gives it to the tenant's uid and marks it for removal at
 * once. So the worker believes no id or descriptor from a tenant, and nothing is left behind,
 * whichever process dies. A tenant cannot change the size of a System V segment.
 */
#include "worker/memory/host_block.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/segment.h"
#include "worker/jobs/job.h"
#include "worker/memory/deferred_release.h"
#include "worker/memory/user.h"

#define HOST_BYTES_MAX (UINT64_C(16) << 30)
#define PAGE           UINT64_C(4096)

struct host_block *host_block_find(const struct session *session, uint64_t number)
{
    return session->memory.hosts && number < SEG_HOSTS ? session->memory.hosts[number] : NULL;
}

/* The most host memory that a session may have: pinned memory is taken from everyone. */
static uint64_t host_limit(void)
{
    uint64_t eighth = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 8;

    /* The limit is whole pages, as blocks are: rounding a block up must not carry the sum over the
     * limit. */
    return eighth < HOST_BYTES_MAX ? eighth / PAGE * PAGE : HOST_BYTES_MAX;
}

gs_status host_block_admit(struct job *job, uint64_t size)
{
    uint64_t limit = host_limit(), used = job->session->memory.host_bytes;

    if (size == 0 || size > limit - used)
        return job_fail(job, size ? GS_ERR_LIMIT : GS_ERR_INVALID_VALUE,
                        "%" PRIu64 " bytes of host memory wanted, %" PRIu64 " of %" PRIu64
                        " are in use",
                        size, used, limit);
    return GS_OK;
}

static void alloc_prepare(struct job *job)
{
    struct session *session = job->session;

    if (host_block_admit(job, job->arg[0]) != GS_OK)
        return;
    if (!session->memory.hosts)
        session->memory.hosts = calloc(SEG_HOSTS, sizeof(struct host_block *));
    if (!session->memory.hosts) {
        job_fail(job, GS_ERR_NO_MEMORY, "no memory for the table of host blocks");
        return;
    }
    for (job->index = 0; job->index < SEG_HOSTS && session->memory.hosts[job->index];)
        job->index++;
    if (job->index == SEG_HOSTS)
        job_fail(job, GS_ERR_LIMIT, "the session has %u host blocks, the limit", SEG_HOSTS);
}

void host_block_free(struct session *session, struct host_block *block)
{
    if (!block)
        return;
    deferred_release_add(block->memory, block->pinned ? block->memory : NULL, block->size);
    session->memory.host_bytes -= block->size;
    user_host_discharge(session->memory.user);
    free(block);
}

/* The system has few System V segments for all users (kernel.shmmni). */
static bool segment_admit(struct job *job)
{
    struct session *session = job->session;
    uint32_t limit = atomic_load_explicit(&session->memory.user_hosts, memory_order_relaxed);

    if (limit && segments_low())
        job_fail(job, GS_ERR_LIMIT, "nearly all System V segments are in use (kernel.shmmni)");
    else if (user_host_charge(session->memory.user, limit))
        return true;
    else
        job_fail(job, GS_ERR_LIMIT, "the user's sessions have %u host blocks, the limit", limit);
    return false;
}

struct host_block *host_block_new(struct job *job, uint64_t size, enum host_use use, int *id)
{
    struct session *session = job->session;
    struct host_block *block;
    int made = -1, error;
    void *memory = NULL;

    if (!segment_admit(job))
        return NULL;
    block = calloc(1, sizeof(*block));
    error = block ? segment_make(size, S_IRUSR | S_IWUSR, session->uid, &made, &memory) : -ENOMEM;
    if (error) {
        user_host_discharge(session->memory.user);
        free(block);
        job_fail(job, GS_ERR_NO_MEMORY, "no shared memory of %" PRIu64 " bytes: %s", size,
                 strerror(-error));
        return NULL;
    }
    *block = (struct host_block){.memory = memory, .size = size, .pinned = use != HOST_PLAIN};
    if (block->pinned) {
        CUresult result = DRV(cuMemHostRegister_v2, memory, size,
                              use == HOST_MAPPED ? CU_MEMHOSTREGISTER_DEVICEMAP : 0);
        if (result) {
            user_host_discharge(session->memory.user);
            shmdt(memory);
            free(block);
            job_fail_driver(job, result);
            return NULL;
        }
    }
    session->memory.host_bytes += size;
    *id = made;
    return block;
}

static void alloc_work(struct job *job)
{
    uint64_t size = (job->arg[0] + PAGE - 1) / PAGE * PAGE;
    int id;

    job->object = host_block_new(job, size, job->arg[1] ? HOST_COPIED : HOST_PLAIN, &id);
    if (!job->object)
        return;
    job->ret[0] = job->index;
    job->ret[1] = (uint64_t)id;
}

static void alloc_install(struct job *job)
{
    struct host_block *block = job->object;

    block->serial = ++job->session->serial;
    job->session->memory.hosts[job->index] = block;
}

static void free_work(struct job *job);
static const struct job_kind job_host_free_plain = {"host_free", JOB_QUICK, NULL,
                                                    free_work,   NULL,      NULL};

static void free_prepare(struct job *job)
{
    job->object = host_block_find(job->session, job->arg[0]);
    if (!job->object) {
        job_fail(job, GS_ERR_INVALID_VALUE, "host block %" PRIu64 " does not exist", job->arg[0]);
        return;
    }
    job->session->memory.hosts[job->arg[0]] = NULL;
    job->session->memory.generation++;
    /* The device cannot use the block, so the job need not wait for the device. */
    if (!((const struct host_block *)job->object)->pinned)
        job->kind = &job_host_free_plain;
}

static void free_work(struct job *job)
{
    host_block_free(job->session, job->object);
}

const struct job_kind job_host_alloc = {"host_alloc", JOB_QUICK,     alloc_prepare,
                                        alloc_work,   alloc_install, NULL};
const struct job_kind job_host_free = {"host_free", JOB_QUIESCE, free_prepare,
                                       free_work,   NULL,        NULL};

void host_blocks_deinit(struct session *session)
{
    for (uint32_t i = 0; session->memory.hosts && i < SEG_HOSTS; i++) {
        host_block_free(session, session->memory.hosts[i]);
    }
    free(session->memory.hosts);
    session->memory.hosts = NULL;
}

/*
 * host_block.c - host blocks: host memory shared with a tenant, for gs_host_alloc, for staging, and
 * for images.
 *
 * The worker makes each block itself, gives it to the tenant's uid and marks it for removal at
 * once. So the worker believes no id or descriptor from a tenant, and nothing is left behind,
 * whichever process dies. A tenant cannot change the size of a System V segment.
 *
 * A block for kernels is attached at an address of the device's (host_place.h), for with one
 * address space the device reaches registered memory at the address that it has in the worker. The
 * tenant attaches it there too, if its process has the address free.
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
#include "worker/journal/journal.h"
#include "worker/memory/deferred_release.h"
#include "worker/memory/host_place.h"
#include "worker/memory/preload.h"
#include "worker/memory/resume.h"
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

static gs_status table_make(struct job *job)
{
    struct session_memory *memory = &job->session->memory;

    if (!memory->hosts)
        memory->hosts = calloc(SEG_HOSTS, sizeof(struct host_block *));
    return memory->hosts
               ? GS_OK
               : job_fail(job, GS_ERR_NO_MEMORY, "no memory for the table of host blocks");
}

static void alloc_prepare(struct job *job)
{
    struct session *session = job->session;

    if (host_block_admit(job, job->arg[0]) != GS_OK || table_make(job) != GS_OK)
        return;
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

/* Whether kernels reach the block at the worker's own address, as they do where host and device
 * have one address space. */
static bool has_own_address(const struct host_block *block)
{
    CUdeviceptr address = 0;

    return DRV(cuMemHostGetDevicePointer_v2, &address, block->memory, 0) == CUDA_SUCCESS &&
           address == (uintptr_t)block->memory;
}

/* Makes a block of mapped memory, which is unmapped on failure. registered: the driver has it
 * already. NULL: the job has failed. */
static struct host_block *block_of(struct job *job, void *memory, uint64_t size, enum host_use use,
                                   bool registered)
{
    struct host_block *block = calloc(1, sizeof(*block));
    CUresult result = CUDA_SUCCESS;

    if (!block)
        job_fail(job, GS_ERR_NO_MEMORY, "no memory for a host block's record");
    else if (use != HOST_PLAIN && !registered)
        result = DRV(cuMemHostRegister_v2, memory, size,
                     use >= HOST_MAPPED ? CU_MEMHOSTREGISTER_DEVICEMAP : 0);
    if (result)
        job_fail_driver(job, result);
    if (job->status != GS_OK) {
        deferred_release_add(memory, registered ? memory : NULL, size);
        free(block);
        return NULL;
    }
    *block = (struct host_block){.memory = memory, .size = size, .pinned = use != HOST_PLAIN};
    if (use == HOST_REACHED && has_own_address(block))
        block->address = (uintptr_t)memory;
    job->session->memory.host_bytes += size;
    return block;
}

struct host_block *host_block_new(struct job *job, uint64_t size, enum host_use use, int *id)
{
    struct user *user = job->session->memory.user;
    struct host_block *block = NULL;
    void *memory;
    int error;

    if (!segment_admit(job))
        return NULL;
    error = segment_make(size, S_IRUSR | S_IWUSR, job->session->uid, id, &memory);
    if (error)
        job_fail(job, GS_ERR_NO_MEMORY, "no shared memory of %" PRIu64 " bytes: %s", size,
                 strerror(-error));
    else if (use == HOST_REACHED && !host_place_move(job->session, *id, size, &memory))
        block = block_of(job, memory, size, HOST_COPIED, false);
    else
        block = block_of(job, memory, size, use, false);
    if (!block)
        user_host_discharge(user);
    return block;
}

/* The segment goes when its last process has gone, and its number may then be another's. */
static bool segment_there(const struct session *session, int id, uint64_t size)
{
    struct shmid_ds status;

    return shmctl(id, IPC_STAT, &status) == 0 && status.shm_segsz == size &&
           status.shm_perm.uid == session->uid;
}

struct host_block *host_block_adopt(struct job *job, int id, uint64_t size, enum host_use use,
                                    uint64_t address)
{
    struct user *user = job->session->memory.user;
    struct preload *preload = job->session->resume ? job->session->resume->preload : NULL;
    struct host_block *block;
    void *memory = NULL;
    bool registered;

    if (!segment_there(job->session, id, size)) {
        job_fail(job, GS_ERR_INTERRUPTED, "a host block is gone");
        return NULL;
    }
    if (use != HOST_PLAIN)
        memory = preload_host_take(preload, id, size, use >= HOST_MAPPED, address);
    registered = memory;
    if (!memory)
        memory = shmat(id, (void *)(uintptr_t)address, 0); // NOLINT: an address that the block had
    if (memory == (void *)-1) {
        job_fail(job, GS_ERR_INTERRUPTED, "a host block has no place: %s", strerror(errno));
        return NULL;
    }
    user_host_charge(user, 0);
    block = block_of(job, memory, size, use, registered);
    if (block && block->address != address) {
        job_fail(job, GS_ERR_INTERRUPTED, "kernels do not reach a host block where they did");
        host_block_free(job->session, block);
        return NULL;
    }
    if (!block)
        user_host_discharge(user);
    return block;
}

static void alloc_work(struct job *job)
{
    const enum host_use use = job->arg[1] == SEG_HOST_REACHED ? HOST_REACHED
                              : job->arg[1]                   ? HOST_COPIED
                                                              : HOST_PLAIN;
    uint64_t size = (job->arg[0] + PAGE - 1) / PAGE * PAGE;
    int id;

    const struct host_block *block = job->object = host_block_new(job, size, use, &id);
    if (!block)
        return;
    job->ret[0] = job->index;
    job->ret[1] = (uint64_t)id;
    job->ret[2] = block->address;
    const uint64_t value[JOURNAL_VALUES] = {(uint64_t)id, size,
                                            block->address ? block->address : block->pinned,
                                            job->session->serial + 1};
    journal_put(job->session->journal, JOURNAL_HOST, job->index, value, NULL, 0);
}

/* From now on copies may name the block by its device address. false: no memory for that. */
static bool block_enter(struct session *session, struct host_block *block)
{
    return !block->address ||
           space_put(&session->memory.allocations, block->address, block->size, block);
}

static void alloc_install(struct job *job)
{
    struct host_block *block = job->object;

    block->serial = ++job->session->serial;
    job->session->memory.hosts[job->index] = block;
    if (!block_enter(job->session, block))
        job->ret[2] = block->address = 0;
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
    if (((const struct host_block *)job->object)->address)
        space_remove_tagged(&job->session->memory.allocations, job->object);
    job->session->memory.generation++;
    /* The device cannot use the block, so the job need not wait for the device. */
    if (!((const struct host_block *)job->object)->pinned)
        job->kind = &job_host_free_plain;
}

static void free_work(struct job *job)
{
    job_commit(job);
    journal_drop(job->session->journal, JOURNAL_HOST, job->arg[0]);
    host_block_free(job->session, job->object);
}

const struct job_kind job_host_alloc = {"host_alloc", JOB_QUICK,     alloc_prepare,
                                        alloc_work,   alloc_install, NULL};
const struct job_kind job_host_free = {"host_free", JOB_SESSION_IDLE, free_prepare, free_work, NULL,
                                       NULL};

gs_status host_blocks_resume(struct job *job)
{
    struct session *session = job->session;

    for (const struct journal_entry *e = NULL; (e = journal_next(session->journal, e));) {
        if (e->kind != JOURNAL_HOST)
            continue;
        if (e->key >= SEG_HOSTS || table_make(job) != GS_OK || session->memory.hosts[e->key])
            return job_fail(job, GS_ERR_INTERRUPTED, "a host block has no slot in its table");
        /* Its tenant has not mapped it yet, so nothing is in it: the tenant finds it gone, and asks
         * for another. */
        if (!segment_there(session, (int)e->value[0], e->value[1]))
            continue;
        const enum host_use use = e->value[2] > 1 ? HOST_REACHED : (enum host_use)e->value[2];
        struct host_block *block = host_block_adopt(job, (int)e->value[0], e->value[1], use,
                                                    use == HOST_REACHED ? e->value[2] : 0);
        if (!block)
            return job->status;
        block->serial = e->value[3];
        session->serial = block->serial > session->serial ? block->serial : session->serial;
        session->memory.hosts[e->key] = block;
        if (!block_enter(session, block))
            return job_fail(job, GS_ERR_INTERRUPTED, "no memory for a host block's record");
    }
    return GS_OK;
}

void host_blocks_deinit(struct session *session)
{
    for (uint32_t i = 0; session->memory.hosts && i < SEG_HOSTS; i++) {
        host_block_free(session, session->memory.hosts[i]);
    }
    free(session->memory.hosts);
    session->memory.hosts = NULL;
}

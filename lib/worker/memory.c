/*
 * memory.c - a session's device memory: its window, and the allocations in the chunks that back it.
 *
 * Runs in jobs (service threads); window and chunks belong to the session's job in progress, the
 * table of live allocations to the dispatcher, which alone changes it, in install and prepare.
 *
 * Requests of half the driver's granularity (2 MiB on NVIDIA's) and more get a chunk of their own;
 * smaller ones share chunks.
 */
#include "worker/memory.h"

#include <inttypes.h>

#include "worker/chunk.h"

#define ALIGNMENT 256u /* what cuMemAlloc promises */

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* ---- Allocations ----------------------------------------------------------------------------- */

/* A place for a small allocation in one of the shared chunks. */
static struct span *block_take(struct session *session, uint64_t size, struct chunk **in)
{
    for (size_t i = 0; i < session->window.count; i++) {
        struct chunk *chunk = session->window.spans[i].tag;
        struct span *block = chunk->shared ? space_take(&chunk->blocks, size, ALIGNMENT) : NULL;
        if (block) {
            *in = chunk;
            return block;
        }
    }
    return NULL;
}

static CUresult zero(uint64_t address, uint64_t size)
{
    CUresult result = DRV(cuMemsetD8Async, address, 0, size, service_stream());

    return result ? result : DRV(cuStreamSynchronize, service_stream());
}

static void small_alloc(struct job *job, uint64_t size)
{
    struct chunk *chunk = NULL;
    struct span *block = block_take(job->session, size, &chunk);

    if (!block) {
        chunk = chunk_new(job, worker.granularity);
        if (!chunk)
            return;
        chunk->shared = true;
        block = space_take(&chunk->blocks, size, ALIGNMENT);
        if (!block) {
            chunk_free(job->session, chunk);
            job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an allocation's record");
            return;
        }
    }
    CUresult result = chunk->dirty ? zero(block->address, size) : CUDA_SUCCESS;
    if (result) {
        space_remove(&chunk->blocks, block);
        job_fail_driver(job, result);
        return;
    }
    job->ret[0] = block->address;
}

static void malloc_prepare(struct job *job)
{
    if (job->arg[0] == 0)
        job_fail(job, GS_ERR_INVALID_VALUE, "an allocation of 0 bytes");
    else if (job->arg[0] > job->session->mem_limit)
        job_fail(job, GS_ERR_QUOTA, "%" PRIu64 " bytes wanted, the session may hold %" PRIu64,
                 job->arg[0], job->session->mem_limit);
}

static void malloc_work(struct job *job)
{
    uint64_t size = round_up(job->arg[0], ALIGNMENT);

    if (size < worker.granularity / 2) {
        small_alloc(job, size);
    } else {
        struct chunk *chunk = chunk_new(job, round_up(size, worker.granularity));
        if (chunk)
            job->ret[0] = chunk->address;
    }
}

static void block_free(struct session *session, uint64_t address)
{
    struct chunk *chunk = space_containing(&session->window, address, 1)->tag;

    if (chunk->shared) {
        space_remove(&chunk->blocks, space_at(&chunk->blocks, address));
        chunk->dirty = true;
        if (chunk->blocks.count > 0)
            return;
    }
    chunk_free(session, chunk);
}

static void malloc_install(struct job *job)
{
    if (!space_put(&job->session->allocations, job->ret[0], job->arg[0], NULL)) {
        /* Only for want of host memory; the block stays taken until the session ends. */
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an allocation's record");
    }
}

static void free_prepare(struct job *job)
{
    struct span *span = space_at(&job->session->allocations, job->arg[0]);

    if (!span || span->tag) {
        job_fail(job, GS_ERR_INVALID_POINTER, "0x%" PRIx64 " is not the start of an allocation",
                 job->arg[0]);
        return;
    }
    space_remove(&job->session->allocations, span);
    job->session->table_generation++;
}

static void free_work(struct job *job)
{
    block_free(job->session, job->arg[0]);
}

static void mem_info_work(struct job *job)
{
    size_t device_free = 0, device_total = 0;
    CUresult result = DRV(cuMemGetInfo_v2, &device_free, &device_total);
    uint64_t own = job->session->mem_limit - job->session->mem_used;

    if (result) {
        job_fail_driver(job, result);
        return;
    }
    job->ret[0] = own < device_free ? own : device_free;
    job->ret[1] = job->session->mem_limit;
}

const struct job_kind job_malloc = {"malloc",    JOB_QUICK,      malloc_prepare,
                                    malloc_work, malloc_install, NULL};
const struct job_kind job_mem_free = {"free", JOB_QUIESCE, free_prepare, free_work, NULL, NULL};
const struct job_kind job_mem_info = {"mem_info", JOB_QUICK, NULL, mem_info_work, NULL, NULL};

/* ---- The window ------------------------------------------------------------------------------ */

#define WINDOW_MIN    (UINT64_C(4) << 30)
#define WINDOW_BUDGET (UINT64_C(96) << 40) /* of the 128 TiB that a process has */

static _Atomic uint64_t windows_reserved;

/* A window may take a 256th of the addresses that are still free: the first few hundred sessions of
 * a 139 GiB device get room for all of it, thousands still get 4 GiB. */
static uint64_t window_share(void)
{
    uint64_t reserved = atomic_load_explicit(&windows_reserved, memory_order_relaxed);
    uint64_t share = (WINDOW_BUDGET - (reserved < WINDOW_BUDGET ? reserved : WINDOW_BUDGET)) / 256;

    return share > WINDOW_MIN ? share : WINDOW_MIN;
}

gs_status window_open(struct job *job)
{
    struct session *session = job->session;
    uint64_t wanted = WINDOW_MIN, share = window_share();
    CUdeviceptr base = 0;
    CUresult result;

    while (wanted < 2 * session->mem_limit && wanted * 2 <= share)
        wanted *= 2;
    while ((result = DRV(cuMemAddressReserve, &base, wanted, wanted, 0, 0)) &&
           !driver_fatal(result) && wanted > WINDOW_MIN)
        wanted /= 2;
    if (result)
        return job_fail_driver(job, result);
    atomic_fetch_add_explicit(&windows_reserved, wanted, memory_order_relaxed);
    session->window_reserved = wanted;
    space_init(&session->window, base, wanted);
    if (session->mem_limit > wanted)
        session->mem_limit = wanted;
    return GS_OK;
}

void window_close(struct session *session)
{
    if (!session->window_reserved)
        return;
    while (session->window.count)
        chunk_free(session, session->window.spans[session->window.count - 1].tag);
    DRV_MUST(cuMemAddressFree, session->window.base, session->window_reserved);
    atomic_fetch_sub_explicit(&windows_reserved, session->window_reserved, memory_order_relaxed);
    session->window_reserved = 0;
    space_deinit(&session->window);
}

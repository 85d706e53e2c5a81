/*
 * memory.c - a session's device memory: its window, the chunks that back it, small allocations in
 * them.
 *
 * Runs in jobs (service threads); window and chunks belong to the session's job in progress, the
 * table of live allocations to the dispatcher, which alone changes it, in install and prepare.
 *
 * A chunk is one cuMemCreate: mapped at its place in the window and exported to the supervisor's
 * vault the moment it exists, so that it can outlive this process. Requests of half the driver's
 * granularity (2 MiB on NVIDIA's) and more get a chunk of their own; smaller ones share chunks.
 */
#include "worker/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define ALIGNMENT 256u /* what cuMemAlloc promises */

struct chunk {
    CUmemGenericAllocationHandle handle;
    uint64_t address, size;
    bool shared; /* holds small allocations, in blocks */
    bool dirty;  /* a block was given back: what is taken next must be zeroed first */
    struct space blocks;
};

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

static void chunk_unmap(const struct chunk *chunk)
{
    DRV_MUST(cuMemUnmap, chunk->address, chunk->size);
}

/* Maps, clears and exports a chunk that has its handle and place. */
static CUresult chunk_back(struct session *session, struct chunk *chunk)
{
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, worker.device},
                                    CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUresult result = DRV(cuMemMap, chunk->address, chunk->size, 0, chunk->handle, 0);
    int descriptor = -1;

    if (result)
        return result;
    result = DRV(cuMemSetAccess, chunk->address, chunk->size, &access, 1);
    /* The driver may hand out what another tenant has just given back. */
    if (!result)
        result = DRV(cuMemsetD8Async, chunk->address, 0, chunk->size, service_stream());
    if (!result)
        result = DRV(cuStreamSynchronize, service_stream());
    if (!result)
        result = DRV(cuMemExportToShareableHandle, &descriptor, chunk->handle,
                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (result) {
        chunk_unmap(chunk);
        return result;
    }
    struct link_message message = {.op = LINK_VAULT_PUT, .slot = session->slot};
    message.u.vault = (struct link_vault){chunk->address, chunk->size};
    link_send(&message, descriptor);
    close(descriptor);
    return CUDA_SUCCESS;
}

static void used_set(struct session *session, uint64_t used)
{
    session->mem_used = used;
    atomic_store_explicit(&session->stats->memory_used, used, memory_order_relaxed);
}

static struct chunk *chunk_new(struct job *job, uint64_t size)
{
    struct session *session = job->session;
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .requestedHandleTypes =
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, worker.device}};

    if (size > session->mem_limit - session->mem_used) {
        job_fail(job, GS_ERR_QUOTA,
                 "%" PRIu64 " bytes wanted, %" PRIu64 " of the session's %" PRIu64 " are in use",
                 size, session->mem_used, session->mem_limit);
        return NULL;
    }
    struct chunk *chunk = calloc(1, sizeof(*chunk));
    struct span *span = chunk ? space_take(&session->window, size, worker.granularity) : NULL;
    if (!span) {
        free(chunk);
        job_fail(job, GS_ERR_NO_MEMORY,
                 "no %" PRIu64 " consecutive bytes are free in the session's window", size);
        return NULL;
    }
    chunk->address = span->address;
    chunk->size = size;
    CUresult result = DRV(cuMemCreate, &chunk->handle, size, &prop, 0);
    if (!result) {
        result = chunk_back(session, chunk);
        if (result)
            DRV_MUST(cuMemRelease, chunk->handle);
    }
    if (result) {
        space_remove(&session->window, span);
        free(chunk);
        job_fail_driver(job, result);
        return NULL;
    }
    space_init(&chunk->blocks, chunk->address, size);
    span->tag = chunk;
    used_set(session, session->mem_used + size);
    return chunk;
}

/* Undoes chunk_new but for its span in the window. */
static void chunk_free(struct session *session, struct chunk *chunk)
{
    struct link_message message = {.op = LINK_VAULT_DROP, .slot = session->slot};

    message.u.vault = (struct link_vault){chunk->address, chunk->size};
    link_send(&message, -1);
    chunk_unmap(chunk);
    DRV_MUST(cuMemRelease, chunk->handle);
    used_set(session, session->mem_used - chunk->size);
    space_deinit(&chunk->blocks);
    free(chunk);
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
            space_remove(&job->session->window, space_at(&job->session->window, chunk->address));
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
    struct span *span = space_containing(&session->window, address, 1);
    struct chunk *chunk = span->tag;

    if (chunk->shared) {
        space_remove(&chunk->blocks, space_at(&chunk->blocks, address));
        chunk->dirty = true;
        if (chunk->blocks.count > 0)
            return;
    }
    space_remove(&session->window, span);
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
    while (session->window.count) {
        struct span *last = &session->window.spans[session->window.count - 1];
        struct chunk *chunk = last->tag;
        space_remove(&session->window, last);
        chunk_free(session, chunk);
    }
    DRV_MUST(cuMemAddressFree, session->window.base, session->window_reserved);
    atomic_fetch_sub_explicit(&windows_reserved, session->window_reserved, memory_order_relaxed);
    session->window_reserved = 0;
    space_deinit(&session->window);
}

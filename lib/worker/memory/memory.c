/*
 * memory.c - a session's allocations of device memory, which lie in the chunks of its window.
 *
 * Runs in jobs, on service threads. Chunks belong to the session's job in progress. The table of
 * live allocations changes only in install and prepare, which the main lane runs.
 *
 * An allocation of half the driver's granularity (2 MiB on NVIDIA's devices) or more gets a chunk
 * of its own; smaller ones share chunks.
 */
#include "worker/memory/memory.h"

#include <inttypes.h>

#include "common/size_text.h"
#include "common/util.h"
#include "worker/journal/journal.h"
#include "worker/memory/chunk.h"
#include "worker/memory/device_memory.h"
#include "worker/memory/limits.h"
#include "worker/memory/user.h"
#include "worker/memory/window.h"

#define ALIGNMENT 256u /* what cuMemAlloc promises */

/* ---- Allocations ----------------------------------------------------------------------------- */

/* Takes a place for a small allocation in a shared chunk. NULL: there is none. A program may have a
 * million small allocations, so a chunk without room for a size is not searched for that size again
 * until a block in it is freed. */
static struct place *block_take_in(struct chunk *chunk, uint64_t size)
{
    struct place *block = NULL;

    if (chunk->shared && (!chunk->refuses || size < chunk->refuses)) {
        block = space_take(&chunk->blocks, size, ALIGNMENT);
        chunk->refuses = block ? chunk->refuses : size;
    }
    return block;
}

static struct place *block_take(struct session *session, uint64_t size, struct chunk **in)
{
    for (size_t i = 0; i < session->memory.window.count; i++) {
        struct chunk *chunk = session->memory.window.places[i].tag;
        struct place *block = block_take_in(chunk, size);
        if (block) {
            *in = chunk;
            return block;
        }
    }
    return NULL;
}

static bool is_small(uint64_t size, uint64_t align)
{
    return align <= ALIGNMENT && size < worker->granularity / 2;
}

static gs_status block_zero(struct job *job, struct chunk *chunk, struct place *block,
                            uint64_t *address)
{
    CUresult result = chunk->dirty ? device_zero(block->address, block->size) : CUDA_SUCCESS;

    if (result) {
        space_remove(&chunk->blocks, block);
        return job_fail_driver(job, result);
    }
    *address = block->address;
    return GS_OK;
}

/* Takes a place for a small allocation in a chunk that is mapped already. *address 0: there is
 * none. On failure the job has failed. */
static gs_status small_find(struct job *job, uint64_t size, uint64_t *address)
{
    struct chunk *chunk = NULL;
    struct place *block = block_take(job->session, size, &chunk);

    *address = 0;
    return block ? block_zero(job, chunk, block, address) : GS_OK;
}

/* Takes a place for a small allocation, in a new chunk where necessary. asked: the bytes that the
 * tenant named; size: the same, rounded up. */
static gs_status small_take(struct job *job, uint64_t asked, uint64_t size, uint64_t *address)
{
    struct chunk *chunk;
    struct place *block;

    if (small_find(job, size, address) != GS_OK || *address)
        return job->status;
    chunk = chunk_new(job, asked);
    if (!chunk)
        return job->status;
    chunk->shared = true;
    chunk_note(chunk);
    block = space_take(&chunk->blocks, size, ALIGNMENT);
    if (!block) {
        chunk_free(job->session, chunk);
        return job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an allocation's record");
    }
    return block_zero(job, chunk, block, address);
}

gs_status memory_take(struct job *job, uint64_t asked, uint64_t align, uint64_t *address)
{
    const uint64_t size = round_up(asked, ALIGNMENT);

    if (is_small(size, align))
        return small_take(job, asked, size, address);
    struct chunk *chunk = chunk_new(job, asked);
    if (chunk) {
        chunk_note(chunk);
        *address = chunk->address;
    }
    return job->status;
}

bool memory_adopt(struct session *session, uint64_t address, uint64_t size)
{
    const struct place *place = space_containing(&session->memory.window, address, size);
    struct chunk *chunk = place ? place->tag : NULL;

    if (!chunk)
        return false;
    if (chunk->shared)
        return space_put(&chunk->blocks, address, round_up(size, ALIGNMENT), NULL);
    if (chunk->address != address)
        return false;
    chunk->named = true;
    return true;
}

void memory_give(struct session *session, uint64_t address)
{
    struct chunk *chunk = space_containing(&session->memory.window, address, 1)->tag;

    if (chunk->shared) {
        space_remove(&chunk->blocks, space_at(&chunk->blocks, address));
        chunk->dirty = true;
        chunk->refuses = 0;
        if (chunk->blocks.count > 0)
            return;
    }
    chunk_free(session, chunk);
}

static void too_much(struct job *job)
{
    char asked[SIZE_TEXT_MAX], limit[SIZE_TEXT_MAX];

    job->refused.asked = job->arg[0];
    job->refused.used = job->session->memory.used;
    job->refused.limit = memory_limits(job->session).session;
    job_fail(job, GS_ERR_QUOTA, "%s wanted, the session's limit is %s",
             size_exact(asked, job->arg[0]), size_exact(limit, job->refused.limit));
}

/* Has the job wait until memory may be mapped in the window for its allocation. */
static void mapping_await(struct job *job)
{
    if (!chunk_spare_holds(job->session, job->arg[0]))
        window_await(job, device_rounded(job->arg[0]));
}

/* Allocations of this size and more are made by patient threads: zeroing takes long, and attaching
 * and small allocations, which the quick threads do, must not wait behind it. */
#define LARGE_BYTES (UINT64_C(64) << 20)
static const struct job_kind job_malloc_large;

static const struct job_kind job_malloc_small;

static void malloc_prepare(struct job *job)
{
    const struct session *session = job->session;
    const uint64_t asked = job->arg[0];

    if (asked == 0)
        job_fail(job, GS_ERR_INVALID_VALUE, "an allocation of 0 bytes");
    else if (asked > worker->info.memory_total) /* a size up to this does not wrap below */
        too_much(job);
    else if (session->memory.cover != COVER_NONE && is_small(round_up(asked, ALIGNMENT), ALIGNMENT))
        job->kind = &job_malloc_small;
    else
        mapping_await(job);
    if (asked >= LARGE_BYTES)
        job->kind = &job_malloc_large;
}

static void malloc_note(const struct job *job)
{
    const uint64_t value[JOURNAL_VALUES] = {job->arg[0]};

    job_makes(job, JOURNAL_ALLOCATION, job->ret[0]);
    journal_put(job->session->journal, JOURNAL_ALLOCATION, job->ret[0], value, NULL, 0);
}

static void malloc_work(struct job *job)
{
    if (server_memory_charge(job, ALLOCATION_SERVER_BYTES) != GS_OK)
        return;
    if (memory_take(job, job->arg[0], ALIGNMENT, &job->ret[0]) == GS_OK)
        malloc_note(job);
    else
        server_memory_discharge(job->session, ALLOCATION_SERVER_BYTES);
}

/* Takes a place in mapped chunks, if there is one. Whether a small allocation needs a new chunk,
 * which would have to wait for the session's kernels, is known only after a search of all chunks,
 * which takes too long for a lane. */
static void small_work(struct job *job)
{
    if (server_memory_charge(job, ALLOCATION_SERVER_BYTES) != GS_OK)
        return;
    if (small_find(job, round_up(job->arg[0], ALIGNMENT), &job->ret[0]) == GS_OK && job->ret[0])
        malloc_note(job);
    else
        server_memory_discharge(job->session, ALLOCATION_SERVER_BYTES);
}

static void malloc_install(struct job *job)
{
    if (!allocations_put(&job->session->memory.allocations, job->ret[0], job->arg[0], NULL)) {
        /* Happens only when host memory is short; the block stays taken until the session ends. */
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an allocation's record");
    }
}

static const struct job_kind job_malloc_map = {"malloc",    JOB_QUICK,      NULL,
                                               malloc_work, malloc_install, NULL};
/* A stage without work: it waits, as mapping_await has set, between the search of the chunks and
 * the mapping of a new one. */
static const struct job_kind job_malloc_no_room = {"malloc", JOB_QUICK, NULL,
                                                   NULL,     NULL,      &job_malloc_map};

static void small_install(struct job *job)
{
    if (job->ret[0]) {
        malloc_install(job);
        return;
    }
    mapping_await(job);
    job->kind = &job_malloc_no_room;
}

/* Returns whether freeing the allocation unmaps its memory, so that a kernel that used it would
 * fault. */
static bool unmaps(struct session *session, uint64_t address)
{
    const struct chunk *chunk = space_containing(&session->memory.window, address, 1)->tag;

    return !chunk->shared || chunk->blocks.count == 1;
}

/* Freeing a block whose chunk stays mapped does not wait for the device: the memory stays the
 * session's. */
static void free_prepare(struct job *job)
{
    const struct place *place = allocations_at(&job->session->memory.allocations, job->arg[0]);

    if (!place || place->tag) {
        job_fail(job, GS_ERR_INVALID_POINTER, "0x%" PRIx64 " is not the start of an allocation",
                 job->arg[0]);
        return;
    }
    job->session_idle = unmaps(job->session, job->arg[0]);
    job->at_once = job->arg[1] == SEG_FREE_BESIDE;
}

static void free_work(struct job *job)
{
    if (job->status != GS_OK) /* the session has work, and the tenant does not wait */
        return;
    job_removes(job, JOURNAL_ALLOCATION, job->arg[0]);
    journal_remove(job->session->journal, JOURNAL_ALLOCATION, job->arg[0]);
    server_memory_discharge(job->session, ALLOCATION_SERVER_BYTES);
    memory_give(job->session, job->arg[0]);
}

static void free_install(struct job *job)
{
    allocations_remove(&job->session->memory.allocations, job->arg[0]);
    job->session->memory.generation++;
}

static uint64_t left(uint64_t limit, uint64_t used)
{
    return used < limit ? limit - used : 0;
}

static void mem_info_work(struct job *job)
{
    const struct session *session = job->session;
    const struct limits limits = memory_limits(session);
    uint64_t total = limits.session, own = left(total, session->memory.used);
    size_t device_free = 0, device_total = 0;
    CUresult result = DRV(cuMemGetInfo_v2, &device_free, &device_total);

    if (result) {
        job_fail_driver(job, result);
        return;
    }
    if (limits.user) {
        uint64_t user = left(limits.user, user_used(session->memory.user));
        total = limits.user < total ? limits.user : total;
        own = user < own ? user : own;
    }
    job->ret[0] = own < device_free ? own : device_free;
    job->ret[1] = total;
}

static const struct job_kind job_malloc_large = {"malloc",    JOB_PATIENT,    malloc_prepare,
                                                 malloc_work, malloc_install, NULL};
static const struct job_kind job_malloc_small = {"malloc",   JOB_QUICK,     NULL,
                                                 small_work, small_install, NULL};
const struct job_kind job_malloc = {"malloc",    JOB_QUICK,      malloc_prepare,
                                    malloc_work, malloc_install, NULL};
const struct job_kind job_mem_free = {"free",    JOB_QUICK,    free_prepare,
                                      free_work, free_install, NULL};
const struct job_kind job_mem_info = {"mem_info", JOB_QUICK, NULL, mem_info_work, NULL, NULL};

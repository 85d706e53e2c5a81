/*
 * host_request.c - what tenants ask for host blocks (host_block.h): to make one, and to free it.
 *
 * A block for kernels rests when it is freed: it stays registered, and counted, for the session's
 * next need of a block, since unregistering it needs a quiet moment, and its place then sinks.
 * Where the limit or too many resting blocks are in the way, an allocation waits for a quiet moment
 * and lets all that rest go. What the user's ended sessions had registered waits for such a moment
 * too, and an allocation with it once that is as much as the user may have.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "worker/jobs/job.h"
#include "worker/journal/journal.h"
#include "worker/memory/deferred_release.h"
#include "worker/memory/host_block.h"
#include "worker/memory/host_place.h"
#include "worker/memory/limits.h"
#include "worker/memory/user.h"
#include "worker/memory/window.h"

#define RESTING_MAX 64u

/* The smallest resting block with so much room; *link points to it. */
static struct host_block **resting_find(struct session_memory *memory, uint64_t size)
{
    struct host_block **best = NULL;

    for (struct host_block **link = &memory->resting; *link; link = &(*link)->next) {
        if ((*link)->size >= size && (!best || (*link)->size < (*best)->size))
            best = link;
    }
    return best;
}

static const struct job_kind job_host_alloc_quiet;

static enum host_use use_asked(const struct job *job)
{
    return job->arg[1] == SEG_HOST_REACHED ? HOST_REACHED : job->arg[1] ? HOST_COPIED : HOST_PLAIN;
}

/* Whether a block that rests serves the job. */
static bool rested(const struct job *job)
{
    return use_asked(job) == HOST_REACHED && resting_find(&job->session->memory, job->arg[0]);
}

/* Whether a block of that size is within the limits on what is pinned: the process's, and what the
 * user's sessions have together. */
static bool has_room(const struct session_memory *memory, uint64_t size)
{
    const uint64_t most = atomic_load_explicit(&memory->user_host_mem, memory_order_relaxed);

    return size <= host_limit() - memory->host_bytes &&
           (!most || user_host_bytes(memory->user) + size <= most);
}

/* Whether the user's freed blocks, of which the driver has not let go, leave room for another. */
static bool deferred_leaves_room(const struct session_memory *memory, uint64_t size)
{
    return user_host_deferred_within(
        memory->user, size, atomic_load_explicit(&memory->user_hosts, memory_order_relaxed),
        atomic_load_explicit(&memory->user_host_mem, memory_order_relaxed));
}

/* Whether blocks that rest, or wait for their release, are to make room first. */
static bool makes_room(const struct session_memory *memory, uint64_t size)
{
    return (memory->resting && (memory->resting_count >= RESTING_MAX || !has_room(memory, size))) ||
           !deferred_leaves_room(memory, size);
}

/* Finds how a new block is made: sinks go from its place while no kernel of the session runs; or
 * what rests goes first. On failure the job has failed. */
static gs_status new_prepare(struct job *job)
{
    const struct session_memory *memory = &job->session->memory;
    const enum host_use use = use_asked(job);
    const uint64_t size = job->arg[0];

    if (use == HOST_REACHED && size <= host_limit())
        window_await(job, host_place_room(host_segment_size(size, use)));
    if (!size || size > host_limit() || !makes_room(memory, host_segment_size(size, use)))
        return host_block_admit(job, size);
    job->kind = &job_host_alloc_quiet;
    return GS_OK;
}

static void alloc_prepare(struct job *job)
{
    struct session *session = job->session;

    if ((!rested(job) && new_prepare(job) != GS_OK) || host_table_make(job) != GS_OK)
        return;
    for (job->index = 0; job->index < SEG_HOSTS && session->memory.hosts[job->index];)
        job->index++;
    if (job->index == SEG_HOSTS)
        job_fail(job, GS_ERR_LIMIT, "the session has %u host blocks, the limit", SEG_HOSTS);
}

/* Lets all blocks go that rest. At a quiet moment. */
static void resting_release(struct session *session)
{
    struct session_memory *memory = &session->memory;

    for (struct host_block *block; (block = memory->resting);) {
        memory->resting = block->next;
        DRV_MUST(cuMemHostUnregister, block->memory);
        host_place_give(session, block->memory, block->size);
        memory->host_bytes -= block->size;
        user_host_discharge(memory->user, block->size);
        free(block);
    }
    memory->resting_count = 0;
}

/* A block that rests, zeroed; NULL: none serves. */
static struct host_block *resting_take(struct job *job)
{
    struct session_memory *memory = &job->session->memory;
    struct host_block **link = rested(job) ? resting_find(memory, job->arg[0]) : NULL, *block;

    if (!link)
        return NULL;
    block = *link;
    *link = block->next;
    memory->resting_count--;
    memset(block->memory, 0, block->size);
    return block;
}

static void alloc_work(struct job *job)
{
    struct host_block *block = resting_take(job);
    int id;

    if (!block)
        block = host_block_new(job, job->arg[0], use_asked(job), &id);
    if (!block)
        return;
    job->object = block;
    job->ret[0] = job->index;
    job->ret[1] = (uint64_t)block->id;
    job->ret[2] = block->address;
    const uint64_t value[JOURNAL_VALUES] = {(uint64_t)block->id, block->size,
                                            host_note(block->pinned, block->address),
                                            job->session->serial + 1};
    job_makes(job, JOURNAL_HOST, job->index);
    journal_put(job->session->journal, JOURNAL_HOST, job->index, value, NULL, 0);
}

static void alloc_quiet_work(struct job *job)
{
    if (job->status != GS_OK) /* no quiet moment came */
        return;
    resting_release(job->session);
    if (!deferred_leaves_room(&job->session->memory,
                              host_segment_size(job->arg[0], use_asked(job))))
        deferred_release_run(); /* of one at least; further ones wait for the next moments */
    if (host_block_admit(job, job->arg[0]) == GS_OK)
        alloc_work(job);
}

static void alloc_install(struct job *job)
{
    struct host_block *block = job->object;

    block->serial = ++job->session->serial;
    job->session->memory.hosts[job->index] = block;
    if (!host_block_enter(job->session, block))
        job->ret[2] = block->address = 0;
}

static void free_work(struct job *job);
static const struct job_kind job_host_free_plain = {"host_free", JOB_QUICK, NULL,
                                                    free_work,   NULL,      NULL};

static void free_prepare(struct job *job)
{
    struct host_block *block = host_block_find(job->session, job->arg[0]);

    if (!block) {
        job_fail(job, GS_ERR_INVALID_VALUE, "host block %" PRIu64 " does not exist", job->arg[0]);
        return;
    }
    job->object = block;
    job->session->memory.hosts[job->arg[0]] = NULL;
    if (block->address)
        allocations_remove(&job->session->memory.allocations, block->address);
    job->session->memory.generation++;
    /* The device cannot use the block, so the job need not wait for the device. */
    if (!block->pinned)
        job->kind = &job_host_free_plain;
}

static void free_work(struct job *job)
{
    struct session_memory *memory = &job->session->memory;
    struct host_block *block = job->object;

    job_removes(job, JOURNAL_HOST, job->arg[0]);
    journal_drop(job->session->journal, JOURNAL_HOST, job->arg[0]);
    if (!block->room) {
        host_block_free(job->session, block);
        return;
    }
    block->next = memory->resting; /* it rests */
    memory->resting = block;
    memory->resting_count++;
}

const struct job_kind job_host_alloc = {"host_alloc", JOB_QUICK,     alloc_prepare,
                                        alloc_work,   alloc_install, NULL};
static const struct job_kind job_host_alloc_quiet = {
    "host_alloc", JOB_PATIENT | JOB_QUIET, NULL, alloc_quiet_work, alloc_install, NULL};
const struct job_kind job_host_free = {"host_free", JOB_SESSION_IDLE, free_prepare, free_work, NULL,
                                       NULL};

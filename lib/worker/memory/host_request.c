/*
 * host_request.c - a tenant's requests about host blocks (host_block.h): to make a block, to join
 * one that a session of another device has made, and to free one.
 *
 * A freed block at a place *rests*: it stays registered, and charged, for the session's next
 * request, because unregistering it needs a quiet moment, after which its place gets sinks. Where a
 * limit is reached or too many blocks rest, an allocation waits for a quiet moment and releases all
 * resting blocks of the session. Blocks that the user's ended sessions had registered wait for such
 * a moment in the deferred release; an allocation waits for it, too, once these blocks are as much
 * as the user may have.
 *
 * To join a block is to attach and register the segment of another session's block. The tenant
 * names the segment, and the kernel tells whether the server made it and whether the user owns it.
 * Each of the two blocks is then a block like any other: each session is charged, and the segment
 * lives as long as one of them has it. Where the other session is of the same process, the joined
 * block lies at the same address, in a peer window (peer_window.h), for which the supervisor is
 * asked. In a fenced session it lies in the session's own window. A resting joined block is used
 * again only for the same segment.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>

#include "common/segment.h"
#include "worker/jobs/job.h"
#include "worker/journal/journal.h"
#include "worker/memory/deferred_release.h"
#include "worker/memory/host_block.h"
#include "worker/memory/host_place.h"
#include "worker/memory/limits.h"
#include "worker/memory/peer_ask.h"
#include "worker/memory/peer_window.h"
#include "worker/memory/user.h"
#include "worker/memory/window.h"

#define RESTING_MAX 64u

/* Returns the link to the smallest resting block of at least `size` bytes; NULL: there is none. */
static struct host_block **resting_find(struct session_memory *memory, uint64_t size)
{
    struct host_block **best = NULL;

    for (struct host_block **link = &memory->resting; *link; link = &(*link)->next) {
        if (!(*link)->joined && (*link)->size >= size && (!best || (*link)->size < (*best)->size))
            best = link;
    }
    return best;
}

static const struct job_kind job_host_alloc_quiet;

static enum host_use use_asked(const struct job *job)
{
    return job->arg[1] == SEG_HOST_REACHED ? HOST_REACHED : job->arg[1] ? HOST_COPIED : HOST_PLAIN;
}

/* Returns whether a resting block serves the job. */
static bool rested(const struct job *job)
{
    return use_asked(job) == HOST_REACHED && resting_find(&job->session->memory, job->arg[0]);
}

/* Returns whether a block of that size is within the limits on pinned memory: the session's, its
 * user's, and that of all users. */
static bool has_room(const struct session_memory *memory, uint64_t size)
{
    const struct host_limits limits = host_limits(memory);

    return size <= host_limit() - memory->host_bytes &&
           user_host_bytes_fit(memory->user, size, &limits) &&
           users_host_bytes_fit(memory->user, size, &limits);
}

/* Returns whether the freed blocks that are still registered, the user's and those of all users,
 * leave room for another block. */
static bool deferred_leaves_room(const struct session_memory *memory, uint64_t size)
{
    const struct host_limits limits = host_limits(memory);

    return user_host_deferred_within(
               memory->user, size, atomic_load_explicit(&memory->user_hosts, memory_order_relaxed),
               limits.user) &&
           (users_host_bytes_fit(memory->user, size, &limits) || !deferred_release_any());
}

/* Returns whether resting blocks, or blocks of the deferred release, have to be released first. */
static bool makes_room(const struct session_memory *memory, uint64_t size)
{
    return (memory->resting && (memory->resting_count >= RESTING_MAX || !has_room(memory, size))) ||
           !deferred_leaves_room(memory, size);
}

/* Chooses how a new block is made: once no kernel of the session runs, so that sinks can be
 * replaced by its place; or at a quiet moment, where other blocks have to be released first. On
 * failure the job has failed. */
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

/* Finds a number for the block. On failure the job has failed. */
static void number_find(struct job *job)
{
    const struct session *session = job->session;

    if (host_table_make(job) != GS_OK)
        return;
    for (job->index = 0; job->index < SEG_HOSTS && session->memory.hosts[job->index];)
        job->index++;
    if (job->index == SEG_HOSTS)
        job_fail(job, GS_ERR_LIMIT, "the session has %u host blocks, the limit", SEG_HOSTS);
}

static void alloc_prepare(struct job *job)
{
    if (rested(job) || new_prepare(job) == GS_OK)
        number_find(job);
}

/* Releases all resting blocks. At a quiet moment. */
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

/* Takes the resting block at the link out of its list. NULL for a link that is NULL. */
static struct host_block *resting_take(struct session_memory *memory, struct host_block **link)
{
    struct host_block *block = link ? *link : NULL;

    if (!block)
        return NULL;
    *link = block->next;
    memory->resting_count--;
    return block;
}

/* Puts the block into the job's answer and into the journal. */
static void block_give(struct job *job, struct host_block *block)
{
    job->object = block;
    job->ret[0] = job->index;
    job->ret[1] = (uint64_t)block->id;
    job->ret[2] = block->address;
    const uint64_t value[JOURNAL_VALUES] = {(uint64_t)block->id, block->size, host_note(block),
                                            job->session->serial + 1};
    job_makes(job, JOURNAL_HOST, job->index);
    journal_put(job->session->journal, JOURNAL_HOST, job->index, value, NULL, 0);
}

static void alloc_work(struct job *job)
{
    struct session_memory *memory = &job->session->memory;
    struct host_block *block =
        resting_take(memory, rested(job) ? resting_find(memory, job->arg[0]) : NULL);
    int id;

    if (block)
        memset(block->memory, 0, block->size);
    else
        block = host_block_new(job, job->arg[0], use_asked(job), &id);
    if (block)
        block_give(job, block);
}

static void alloc_quiet_work(struct job *job)
{
    if (job->status != GS_OK) /* no quiet moment came */
        return;
    resting_release(job->session);
    if (!deferred_leaves_room(&job->session->memory,
                              host_segment_size(job->arg[0], use_asked(job))))
        deferred_release_run(); /* releases at least one; others wait for later moments */
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

/* ---- Joining; arg: System V id, address, the other session; size ----------------------------- */

static const struct job_kind job_host_join_quiet, job_host_join_again, job_host_join_ask,
    job_host_join_ask_quiet;

/* Returns the link to the resting joined block of that segment; NULL: there is none. */
static struct host_block **joined_find(struct session_memory *memory, int id)
{
    struct host_block **link = &memory->resting;

    while (*link && !((*link)->joined && (*link)->id == id))
        link = &(*link)->next;
    return *link ? link : NULL;
}

/* Returns whether another segment's resting block lies at the addresses that are wanted, or may
 * keep the last peer window that the session can have. */
static bool rests_in_the_way(struct session *session, uint64_t address, uint64_t size)
{
    const struct host_block *block = session->memory.resting;
    const bool full = address && peer_windows_full(session) && !peer_window_has(session, address);

    while (block && !(block->joined && (full || (block->address < address + size &&
                                                 address < block->address + block->room))))
        block = block->next;
    return block;
}

/* Checks the segment that the tenant names. A session's own segment is refused by its size
 * (SEG_SIZE). On failure the job has failed. */
static gs_status segment_check(struct job *job)
{
    const uint64_t size = host_segment_bytes((int)job->arg[0], job->session->uid);

    job->arg[3] = size;
    return size && size != SEG_SIZE && host_place_segment_size(size) == size &&
                   job->arg[1] % worker->granularity == 0
               ? GS_OK
               : job_fail(job, GS_ERR_INVALID_VALUE,
                          "the session's user has no host block with the System V id %d",
                          (int)job->arg[0]);
}

static void join_prepare(struct job *job)
{
    struct session_memory *memory = &job->session->memory;
    bool quiet;

    if (segment_check(job) != GS_OK)
        return;
    number_find(job);
    memset(&job->peer, 0, sizeof(job->peer));
    if (job->status != GS_OK || joined_find(memory, (int)job->arg[0]))
        return;
    if (job->session->fenced)
        job->arg[1] = 0;
    window_await(job, host_place_room(job->arg[3]));
    quiet = makes_room(memory, job->arg[3]) || deferred_release_has(job->arg[1]) ||
            rests_in_the_way(job->session, job->arg[1], host_place_room(job->arg[3]));
    if (!quiet && host_block_admit(job, job->arg[3]) != GS_OK)
        return;
    if (job->arg[1])
        job->kind = quiet ? &job_host_join_ask_quiet : &job_host_join_ask;
    else if (quiet)
        job->kind = &job_host_join_quiet;
}

static void join_ask_work(struct job *job)
{
    peer_ask(job, LINK_PEER_WINDOW);
}

/* Returns the address that the tenant names, if it is in a peer window; else 0. */
static uint64_t peer_address(struct job *job)
{
    const struct link_peer_answer *answer = &job->peer.answer;
    struct session *session = job->session;

    if (answer->window_size && !peer_window_has(session, job->arg[1]))
        peer_window_reserve(session, answer->window_base, answer->window_size);
    return peer_window_has(session, job->arg[1]) ? job->arg[1] : 0;
}

/* Makes a joined block of the segment. NULL: the job has failed. */
static struct host_block *join_new(struct job *job)
{
    const int id = (int)job->arg[0];
    void *memory = NULL;
    struct host_block *block = NULL;

    /* Until the segment is attached, its id may become another segment's: it is checked twice. */
    if (host_segment_bytes(id, job->session->uid) == job->arg[3])
        memory = segment_attach(id, job->arg[3]);
    if (memory && host_segment_bytes(id, job->session->uid) == job->arg[3]) {
        block = host_block_join(job, id, memory, job->arg[3], peer_address(job));
    } else {
        if (memory)
            shmdt(memory);
        job_fail(job, GS_ERR_INVALID_VALUE, "the host block with the System V id %d is gone", id);
    }
    peer_window_left(job->session, job->peer.answer.window_base);
    return block;
}

static void join_work(struct job *job)
{
    struct session_memory *memory = &job->session->memory;
    struct host_block *block = resting_take(memory, joined_find(memory, (int)job->arg[0]));

    if (!block)
        block = join_new(job);
    if (block)
        block_give(job, block);
}

static void join_quiet_work(struct job *job)
{
    if (job->status != GS_OK) /* no quiet moment came */
        return;
    resting_release(job->session);
    deferred_release_run();
    if (!deferred_release_has(job->arg[1]) && host_block_admit(job, job->arg[3]) == GS_OK)
        join_work(job);
}

/* Where the window that has the address is not released yet, the job waits for another quiet
 * moment: one for all that goes before the window would stop everybody's launches for too long. */
static void join_quiet_install(struct job *job)
{
    if (job->object)
        alloc_install(job);
    else
        job->kind = &job_host_join_again;
}

/* ---- Freeing --------------------------------------------------------------------------------- */

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
    /* The device cannot use an unregistered block, so the job need not wait for the device. */
    if (!block->pinned)
        job->kind = &job_host_free_plain;
}

static void free_work(struct job *job)
{
    struct session_memory *memory = &job->session->memory;
    struct host_block *block = job->object;

    job_removes(job, JOURNAL_HOST, job->arg[0]);
    journal_remove(job->session->journal, JOURNAL_HOST, job->arg[0]);
    if (!block->room) {
        host_block_free(job->session, block);
        return;
    }
    block->next = memory->resting; /* the block rests */
    memory->resting = block;
    memory->resting_count++;
}

const struct job_kind job_host_alloc = {"host_alloc", JOB_QUICK,     alloc_prepare,
                                        alloc_work,   alloc_install, NULL};
static const struct job_kind job_host_alloc_quiet = {
    "host_alloc", JOB_PATIENT | JOB_QUIET, NULL, alloc_quiet_work, alloc_install, NULL};
const struct job_kind job_host_join = {"host_join", JOB_QUICK,     join_prepare,
                                       join_work,   alloc_install, NULL};
static const struct job_kind job_host_join_quiet = {"host_join",     JOB_PATIENT | JOB_QUIET, NULL,
                                                    join_quiet_work, join_quiet_install,      NULL};
static const struct job_kind job_host_join_again = {"host_join", JOB_QUICK, NULL,
                                                    NULL,        NULL,      &job_host_join_quiet};
/* The stage after the supervisor's answer. */
static const struct job_kind job_host_join_asked = {"host_join", JOB_QUICK,     NULL,
                                                    join_work,   alloc_install, NULL};
static const struct job_kind job_host_join_ask = {
    "host_join", JOB_QUICK | JOB_ASKS, NULL, join_ask_work, NULL, &job_host_join_asked};
static const struct job_kind job_host_join_ask_quiet = {
    "host_join", JOB_QUICK | JOB_ASKS, NULL, join_ask_work, NULL, &job_host_join_quiet};
const struct job_kind job_host_free = {"host_free", JOB_SESSION_IDLE, free_prepare, free_work, NULL,
                                       NULL};

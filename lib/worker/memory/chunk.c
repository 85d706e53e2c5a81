/* chunk.c - see chunk.h. */
#include "worker/memory/chunk.h"

#include <inttypes.h>
#include <stdlib.h>

#include "worker/memory/device_memory.h"
#include "worker/memory/export.h"
#include "worker/memory/import.h"
#include "worker/memory/peer_window.h"
#include "worker/memory/preload.h"
#include "worker/memory/sink.h"
#include "worker/memory/vault_export.h"
#include "worker/memory/window.h"

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Takes a place of `size` bytes for the chunk. On failure the job has failed. */
static gs_status place_take(struct job *job, struct chunk *chunk, uint64_t size)
{
    struct place *place = window_take(job, size);

    if (!place)
        return job->status;
    place->tag = chunk;
    chunk->address = place->address;
    chunk->size = size;
    return GS_OK;
}

gs_status chunk_address_take(struct job *job, struct chunk *chunk)
{
    return place_take(job, chunk, physical_size(chunk->holder.memory));
}

bool chunk_address_take_peer(struct job *job, struct chunk *chunk, uint64_t address)
{
    const uint64_t size = physical_size(chunk->holder.memory);

    if (!peer_window_put(job->session, address, size, chunk))
        return false;
    chunk->address = address;
    chunk->size = size;
    return true;
}

/* Takes the chunk's former place, at `address`. On failure the job has failed. */
static gs_status chunk_address_put(struct job *job, struct chunk *chunk, uint64_t address,
                                   uint64_t size)
{
    if (!peer_window_put(job->session, address, size, chunk) &&
        !window_put(job->session, address, size, chunk))
        return job_fail(job, GS_ERR_INTERRUPTED, "a chunk has no place in the session's window");
    chunk->address = address;
    chunk->size = size;
    return GS_OK;
}

void chunk_address_free(struct session *session, const struct chunk *chunk)
{
    space_remove(&session->memory.window, space_at(&session->memory.window, chunk->address));
    peer_window_left(session, chunk->address);
}

/* Covers the place of an unmapped chunk with sinks, if the session is covered. */
static void place_cover(const struct chunk *chunk)
{
    struct session *session = chunk->holder.session;

    if (!session->memory.cover)
        return;
    /* The session's kernels may run beside a place that they do not reach yet, so the sinks around
     * it stay as they are. */
    if (window_reached(session, chunk->address))
        sinks_cover_place(session, chunk->address, chunk->size);
    else
        sinks_cover(session, chunk->address, chunk->size);
}

CUresult chunk_map(const struct chunk *chunk)
{
    CUresult result = sinks_uncover(chunk->holder.session, chunk->address, chunk->size);

    if (!result)
        result = device_map(chunk->address, chunk->size, physical_handle(chunk->holder.memory));
    if (result)
        place_cover(chunk);
    return result;
}

void chunk_unmap(const struct chunk *chunk)
{
    DRV_MUST(cuMemUnmap, chunk->address, chunk->size);
    place_cover(chunk);
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* Makes a chunk without memory or place. NULL: the job has failed. */
static struct chunk *chunk_begin(struct job *job)
{
    struct chunk *chunk = calloc(1, sizeof(*chunk));

    if (chunk)
        chunk->holder.import = IMPORT_NONE;
    else
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an allocation's record");
    return chunk;
}

/* Maps a chunk that has memory and a place. On failure the job has failed. */
static gs_status chunk_back(struct job *job, struct chunk *chunk)
{
    CUresult result = chunk_map(chunk);

    if (result)
        return job_fail_driver(job, result);
    space_init(&chunk->blocks, chunk->address, chunk->size);
    return GS_OK;
}

/* Clears a new, mapped chunk and opens it to kernels. While the device clears it, the vault gets
 * its descriptor: to make that takes the driver 27 to 70 us on an H200, and the device takes 21 us
 * for 64 MiB of zeros. On failure the job has failed, and the chunk is unmapped. */
static gs_status chunk_clear(struct job *job, struct chunk *chunk)
{
    CUresult result = device_zero_begin(chunk->address, chunk->size);

    if (!result) {
        vault_export(chunk);
        result = device_zero_end();
    }
    if (!result)
        result = window_follow(job->session);
    if (!result)
        return GS_OK;
    vault_export_remove(chunk);
    chunk_unmap(chunk);
    return job_fail_driver(job, result);
}

/* Frees a chunk that was not mapped. A chunk has a size as soon as it has a place. */
static void chunk_undo(struct session *session, struct chunk *chunk)
{
    if (chunk->size)
        chunk_address_free(session, chunk);
    if (chunk->holder.memory)
        physical_release(&chunk->holder);
    free(chunk);
}

/* Returns whether the session's kernels may run during the job. */
static bool beside_work(const struct job *job)
{
    return !(job->session_idle || job->kind->flags & (JOB_SESSION_IDLE | JOB_QUIET));
}

static struct chunk *chunk_make(struct job *job, uint64_t asked)
{
    struct chunk *chunk;

    /* A stray access would fault where a chunk replaces a sink. The jobs that need a chunk keep the
     * session's kernels from running (memory.c). A job that expected room in a shared chunk comes
     * here only if there was no host memory for the block's record. */
    if (job->session->memory.cover && beside_work(job) && !job_beside(job)) {
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an allocation's record");
        return NULL;
    }
    chunk = chunk_begin(job);
    if (!chunk)
        return NULL;
    if (physical_new(job, asked, &chunk->holder) == GS_OK &&
        chunk_address_take(job, chunk) == GS_OK && chunk_back(job, chunk) == GS_OK &&
        chunk_clear(job, chunk) == GS_OK)
        return chunk;
    chunk_undo(job->session, chunk);
    return NULL;
}

/* ---- From worker to worker ------------------------------------------------------------------- */

void chunk_note(const struct chunk *chunk)
{
    const struct holder *holder = &chunk->holder;
    uint64_t is = 0;

    if (chunk->shared)
        is |= JOURNAL_CHUNK_SMALL;
    if (chunk->lent)
        is |= JOURNAL_CHUNK_LENT;
    if (holder->import != IMPORT_NONE)
        is |= JOURNAL_CHUNK_IMPORTED | (uint64_t)holder->import << 32;
    const uint64_t value[JOURNAL_VALUES] = {chunk->size, is, physical_number(holder->memory),
                                            holder->since};
    journal_put(holder->session->journal, JOURNAL_CHUNK, chunk->address, value, NULL, 0);
}

bool chunk_noted_lent(const struct journal_entry *entry)
{
    return entry->value[1] & (JOURNAL_CHUNK_LENT | JOURNAL_CHUNK_IMPORTED);
}

uint32_t chunk_noted_import(const struct journal_entry *entry)
{
    return entry->value[1] & JOURNAL_CHUNK_IMPORTED ? (uint32_t)(entry->value[1] >> 32)
                                                    : IMPORT_NONE;
}

/* Maps sinks at the place of a revoked import. On failure the job has failed. */
static gs_status chunk_sink_again(struct job *job, struct chunk *chunk)
{
    CUresult result = sinks_cover(job->session, chunk->address, chunk->size);

    chunk->sunk = true;
    return result ? job_fail_driver(job, result) : GS_OK;
}

/* Maps the chunk, unless the standby has mapped it already. On failure the job has failed. */
static gs_status chunk_back_again(struct job *job, struct chunk *chunk,
                                  struct preload_piece *preloaded)
{
    if (!preloaded)
        return chunk_back(job, chunk);
    preload_mapping_take(preloaded);
    space_init(&chunk->blocks, chunk->address, chunk->size);
    return GS_OK;
}

struct chunk *chunk_adopt(struct job *job, const struct journal_entry *entry,
                          const struct chunk_source *source)
{
    const uint64_t address = entry->key, size = entry->value[0];
    struct chunk *chunk = chunk_begin(job);

    if (!chunk)
        return NULL;
    chunk->shared = entry->value[1] & JOURNAL_CHUNK_SMALL;
    chunk->lent = entry->value[1] & JOURNAL_CHUNK_LENT;
    chunk->holder.import = chunk_noted_import(entry);
    chunk->holder.since = entry->value[3];
    if (!source) {
        if (chunk_address_put(job, chunk, address, size) == GS_OK &&
            chunk_sink_again(job, chunk) == GS_OK)
            return chunk;
        chunk_undo(job->session, chunk);
        return NULL;
    }
    chunk->dirty = chunk->exported = true;
    if (physical_adopt(job, source, size, entry->value[2], chunk_noted_lent(entry),
                       &chunk->holder) == GS_OK &&
        chunk_address_put(job, chunk, address, size) == GS_OK &&
        chunk_back_again(job, chunk, source->preloaded) == GS_OK)
        return chunk;
    chunk_undo(job->session, chunk);
    return NULL;
}

/* ---- Freeing --------------------------------------------------------------------------------- */

struct chunk *chunk_at(struct session *session, uint64_t address)
{
    const struct place *place = space_at(&session->memory.window, address);

    return place ? place->tag : NULL;
}

static void chunk_free_now(struct session *session, struct chunk *chunk)
{
    export_void(chunk);
    if (chunk->sunk) {
        if (!session->memory.cover)
            sinks_uncover(session, chunk->address, chunk->size);
    } else {
        vault_export_remove(chunk);
        chunk_unmap(chunk);
        physical_release(&chunk->holder);
    }
    if (chunk->holder.import != IMPORT_NONE)
        import_free(session, chunk->holder.import);
    chunk_address_free(session, chunk);
    space_deinit(&chunk->blocks);
    free(chunk);
}

void chunks_deinit(struct session *session)
{
    session->memory.cover = COVER_NONE; /* no kernel of the session runs any more */
    session->memory.spare = NULL;
    while (session->memory.window.count)
        chunk_free_now(session,
                       session->memory.window.places[session->memory.window.count - 1].tag);
}

/* ---- Places of host memory ------------------------------------------------------------------- */

struct chunk *chunk_place_new(struct job *job, uint64_t address, uint64_t size)
{
    struct session *session = job->session;
    struct chunk *chunk = chunk_begin(job);
    CUresult result;

    if (!chunk)
        return NULL;
    chunk->holder.session = session;
    chunk->sunk = true;
    if ((address ? chunk_address_put(job, chunk, address, size) : place_take(job, chunk, size)) !=
        GS_OK) {
        free(chunk);
        return NULL;
    }
    result = sinks_uncover(session, chunk->address, size);
    if (!result)
        return chunk;
    chunk_place_free(chunk);
    job_fail_driver(job, result);
    return NULL;
}

void chunk_place_free(struct chunk *chunk)
{
    place_cover(chunk);
    chunk_free_now(chunk->holder.session, chunk);
}

/* ---- The spare chunk --------------------------------------------------------------------------
 *
 * When a session frees a chunk of the smallest size, it keeps that one as its spare chunk. The
 * spare chunk stays mapped and keeps its content, so that a tenant that allocates and frees small
 * blocks all the time does not make a chunk each time. */

static bool spare_keep(struct session *session, struct chunk *chunk)
{
    /* While sessions are being taken up, it is not known which others hold memory that was lent. */
    if (session->memory.spare || chunk->size != worker->granularity || chunk->lent ||
        chunk->holder.import != IMPORT_NONE)
        return false;
    if (!physical_rest(&chunk->holder))
        return false;
    space_deinit(&chunk->blocks);
    chunk->shared = chunk->dirty = false;
    session->memory.spare = chunk;
    return true;
}

static void spare_free(struct session *session)
{
    struct chunk *chunk = session->memory.spare;

    session->memory.spare = NULL;
    chunk_free_now(session, chunk);
}

static struct chunk *spare_take(struct job *job, uint64_t asked)
{
    struct chunk *chunk = job->session->memory.spare;
    CUresult result;

    if (physical_wake(job, asked, &chunk->holder) != GS_OK)
        return NULL;
    result = device_zero(chunk->address, chunk->size);
    if (result) {
        spare_free(job->session);
        job_fail_driver(job, result);
        return NULL;
    }
    job->session->memory.spare = NULL;
    space_init(&chunk->blocks, chunk->address, chunk->size);
    chunk->refuses = 0;
    return chunk;
}

bool chunk_spare_holds(const struct session *session, uint64_t size)
{
    return session->memory.spare && size <= session->memory.spare->size;
}

/* Voids the exports before the journal's entry goes, so that the next worker finds no handle that
 * names a later chunk at this address. */
void chunk_free(struct session *session, struct chunk *chunk)
{
    export_void(chunk);
    journal_remove(session->journal, JOURNAL_CHUNK, chunk->address);
    if (!spare_keep(session, chunk))
        chunk_free_now(session, chunk);
}

struct chunk *chunk_new(struct job *job, uint64_t asked)
{
    struct session *session = job->session;
    struct chunk *chunk;

    if (chunk_spare_holds(session, asked))
        return spare_take(job, asked);
    chunk = chunk_make(job, asked);
    /* The device or the window may be full. Freeing the spare chunk may make enough room, which is
     * allowed if no kernel of the session runs meanwhile. */
    if (!chunk && session->memory.spare && job->status != GS_ERR_QUOTA && !job_beside(job)) {
        spare_free(session);
        job->status = GS_OK;
        chunk = chunk_make(job, asked);
    }
    return chunk;
}

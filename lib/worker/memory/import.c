/*
 * import.c - imports: memory of another session, mapped in the importer's window.
 *
 * Runs in jobs, on service threads. An import is a chunk of the importer's window that maps the
 * exported chunk's physical memory (export.h). Its number stands for a bit in the segment, which
 * tells the importer's client that the import was revoked.
 *
 * The handle tells the export's device. The supervisor is asked for an export of another device
 * (peer_ask.h), since it has the memory's descriptor. Such memory stays its owner's: the supervisor
 * has the import revoked when the owner revokes or frees the memory, or ends.
 *
 * Revoking must not leave a hole in the importer's window: a kernel that still has the address
 * would fault, and end the context for all tenants. So sinks (sink.h) are mapped at the place of a
 * revoked import. A job of the importer's session (job_unshare) does this once the device has
 * finished all that the session has issued, because no kernel of the session may run between the
 * unmapping and the mapping.
 */
#include "worker/memory/import.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "worker/memory/deferred_release.h"
#include "worker/memory/export.h"
#include "worker/memory/export_table.h"
#include "worker/memory/memory.h"
#include "worker/memory/peer_ask.h"
#include "worker/memory/peer_window.h"
#include "worker/memory/sink.h"
#include "worker/memory/vault_export.h"
#include "worker/memory/window.h"

/* A session's imports. */
struct imports {
    uint32_t count;
    uint64_t taken[SEG_IMPORTS / 64]; /* numbers in use */
};
/* Makes the session's table of imports, unless it has one. On failure the job has failed. */
static gs_status imports_init(struct job *job)
{
    struct imports *imports;

    if (job->session->memory.imports)
        return GS_OK;
    imports = calloc(1, sizeof(*imports));
    if (!imports)
        return job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an import's record");
    job->session->memory.imports = imports;
    return GS_OK;
}

/* Frees the table of imports once the last import is gone. */
static void imports_deinit(struct session *session)
{
    if (session->memory.imports->count > 0)
        return;
    free(session->memory.imports);
    session->memory.imports = NULL;
}

void import_free(struct session *session, uint32_t number)
{
    session->memory.imports->taken[number / 64] &= ~(UINT64_C(1) << number % 64);
    session->memory.imports->count--;
    imports_deinit(session);
}

static void number_set(struct imports *imports, uint32_t number)
{
    imports->taken[number / 64] |= UINT64_C(1) << number % 64;
    imports->count++;
}

static _Atomic uint64_t *revoked_word(const struct session *session, uint32_t number)
{
    return &session->server_page->revoked[number / 64];
}

/* Tells the tenant that the import was revoked. */
static void revoked_tell(const struct session *session, uint32_t number)
{
    /* Relaxed: the word stands by itself. */
    atomic_fetch_or_explicit(revoked_word(session, number), UINT64_C(1) << number % 64,
                             memory_order_relaxed);
}

gs_status import_resume(struct job *job, uint32_t number)
{
    const struct imports *imports;

    if (imports_init(job) != GS_OK)
        return job->status;
    imports = job->session->memory.imports;
    if (number >= SEG_IMPORTS || imports->taken[number / 64] >> number % 64 & 1)
        return job_fail(job, GS_ERR_INTERRUPTED, "an import has no number of its own");
    number_set(job->session->memory.imports, number);
    if (journal_revoked(job->session->journal, number))
        revoked_tell(job->session, number);
    return GS_OK;
}

/* Takes a number that no import of the session has. On failure the job has failed. */
static gs_status number_take(struct job *job, uint32_t *number)
{
    const struct session *session = job->session;
    struct imports *imports = session->memory.imports;

    for (uint32_t i = 0; i < SEG_IMPORTS / 64; i++) {
        if (imports->taken[i] == UINT64_MAX)
            continue;
        *number = i * 64 + (uint32_t)__builtin_ctzll(~imports->taken[i]);
        number_set(imports, *number);
        journal_revoked_set(session->journal, *number, false);
        /* Relaxed: the client learns the number only with the answer, which is stored later. */
        atomic_fetch_and_explicit(revoked_word(session, *number), ~(UINT64_C(1) << *number % 64),
                                  memory_order_relaxed);
        return GS_OK;
    }
    return job_fail(job, GS_ERR_LIMIT, "the session has %u imports, the limit", SEG_IMPORTS);
}

/* Adds the holder to the memory that the handle names, if the session may import that export. On
 * failure the job has failed. */
static gs_status import_join(struct job *job, struct holder *holder)
{
    const struct session *session = job->session;
    const struct mem_export *e;
    const char *refused;
    gs_status status;

    exports_lock();
    e = exports_find(job->arg);
    refused = export_refusal(e, session->id, session->uid, &status);
    if (refused)
        job_fail(job, status, "%s", refused);
    else if (physical_hold(job, e->memory, holder->import, holder) == GS_OK)
        job->ret[1] = e->size;
    exports_unlock();
    return job->status;
}

/* Has the vault keep the memory for the importer, too. A chunk loses its exports before it leaves
 * the vault, so while the export is in the table, which is locked, the vault has the owner's chunk.
 * If the export is gone by now, the import comes too late. On failure the job has failed. */
static gs_status import_keep(struct job *job, struct chunk *chunk)
{
    const struct mem_export *e;
    const char *refused;
    gs_status status;

    exports_lock();
    e = exports_find(job->arg);
    refused = export_refusal(e, job->session->id, job->session->uid, &status);
    if (!refused)
        vault_export_import(chunk, e->owner->slot, e->address);
    exports_unlock();
    return refused ? job_fail(job, status, "%s", refused) : GS_OK;
}

/* Maps the chunk, which has memory and a place. On failure the job has failed, and the place is
 * freed. */
static gs_status import_map(struct job *job, struct chunk *chunk)
{
    CUresult result;

    result = chunk_map(chunk);
    if (!result)
        return GS_OK;
    chunk_address_free(job->session, chunk);
    return job_fail_driver(job, result);
}

/* Checks that the device's kernels and copies reach the other device's memory. On failure the job
 * has failed. */
static gs_status peer_reach(struct job *job, uint32_t peer)
{
    int can = 0;
    CUresult result = DRV(cuDeviceCanAccessPeer, &can, worker->device, (CUdevice)peer);

    if (result)
        return job_fail_driver(job, result);
    return can ? GS_OK
               : job_fail(job, GS_ERR_NOT_SUPPORTED,
                          "device %d of this machine cannot reach memory of device %u",
                          (int)worker->device, peer);
}

/* Takes the place at the owner's own address, if the owner is of the same process and these
 * addresses are free here, else any place. On failure the job has failed. */
static gs_status peer_place(struct job *job, struct chunk *chunk,
                            const struct link_peer_answer *answer)
{
    struct session *session = job->session;

    if (chunk_address_take_peer(job, chunk, answer->address))
        return GS_OK;
    if (peer_window_reserve(session, answer->window_base, answer->window_size)) {
        if (chunk_address_take_peer(job, chunk, answer->address))
            return GS_OK;
        peer_window_left(session, answer->window_base);
    }
    return chunk_address_take(job, chunk);
}

/* As import_back, but for memory of another device, which the supervisor's answer describes
 * (peer_ask.h). Once the import is mapped, the supervisor is told, and revokes it at once if the
 * owner has revoked the memory meanwhile. */
static gs_status import_back_peer(struct job *job, struct chunk *chunk)
{
    const struct link_peer_answer *answer = &job->peer.answer;
    const struct peer_piece piece = {job->peer.descriptor, answer->piece_size,
                                     answer->number | PHYSICAL_PEER};

    if (piece.descriptor < 0)
        return job_fail(job, GS_ERR_LIMIT, "no descriptor is left for another device's memory");
    if (peer_reach(job, answer->from) != GS_OK ||
        physical_hold_peer(job, &piece, chunk->holder.import, &chunk->holder) != GS_OK)
        return job->status;
    if (peer_place(job, chunk, answer) != GS_OK || import_map(job, chunk) != GS_OK) {
        physical_release(&chunk->holder);
        return job->status;
    }
    vault_export_peer(chunk, answer->number);
    job->ret[1] = answer->size;
    return GS_OK;
}

/* Gives the chunk memory, a place and a mapping; it has its number already. On failure the job has
 * failed. */
static gs_status import_back(struct job *job, struct chunk *chunk)
{
    if (import_join(job, &chunk->holder) != GS_OK)
        return job->status;
    if (chunk_address_take(job, chunk) == GS_OK && import_map(job, chunk) == GS_OK) {
        if (import_keep(job, chunk) == GS_OK)
            return GS_OK;
        chunk_unmap(chunk);
        chunk_address_free(job->session, chunk);
    }
    physical_release(&chunk->holder);
    return job->status;
}

static void import_note(struct job *job, const struct chunk *chunk)
{
    const uint64_t value[JOURNAL_VALUES] = {job->ret[1]};

    memory_record_adopt(job->session);
    chunk_note(chunk);
    job_makes(job, JOURNAL_ALLOCATION, chunk->address);
    journal_put(job->session->journal, JOURNAL_ALLOCATION, chunk->address, value, NULL, 0);
}

/* Makes an import's chunk, to which `back` gives memory, place and mapping. */
static void import_make(struct job *job, gs_status (*back)(struct job *job, struct chunk *chunk))
{
    struct session *session = job->session;
    struct chunk *chunk;

    if (imports_init(job) != GS_OK)
        return;
    chunk = calloc(1, sizeof(*chunk));
    if (!chunk) {
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an import's record");
    } else if (number_take(job, &chunk->holder.import) == GS_OK) {
        if (back(job, chunk) == GS_OK) {
            job->ret[0] = chunk->address;
            job->ret[2] = chunk->holder.import;
            import_note(job, chunk);
            return;
        }
        import_free(session, chunk->holder.import);
        free(chunk);
        return;
    }
    free(chunk);
    imports_deinit(session);
}

static void import_work(struct job *job)
{
    import_make(job, import_back);
}

/* Ends an import of another device. The supervisor is told of a failure, because it has noted the
 * import already. */
static void peer_import_end(struct job *job)
{
    if (job->status != GS_OK)
        vault_export_peer_failed(job->session, job->peer.answer.number);
    if (job->peer.descriptor >= 0)
        close(job->peer.descriptor);
}

/* Imports memory of another device. */
static void peer_import_work(struct job *job)
{
    import_make(job, import_back_peer);
    peer_import_end(job);
}

static const struct job_kind job_peer_room_again;

/* Releases the window of an ended session that still reserves the owner's address. At a quiet
 * moment. */
static void peer_room_work(struct job *job)
{
    if (job->status == GS_OK)
        deferred_release_run();
    else /* no quiet moment came */
        peer_import_end(job);
}

/* Where the window is not released yet, the job waits for another quiet moment: one for all that
 * goes before the window would stop everybody's launches for too long. */
static void peer_room_install(struct job *job)
{
    if (deferred_release_has(job->peer.answer.address))
        job->kind = &job_peer_room_again;
}

static void import_install(struct job *job)
{
    if (!allocations_put(&job->session->memory.allocations, job->ret[0], job->ret[1], NULL)) {
        /* Happens only when host memory is short; the import stays mapped until the session
         * ends. */
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an import's record");
    }
}

static const struct job_kind job_peer_import = {
    "peer_import", JOB_PATIENT | JOB_TAKEN_UP, NULL, peer_import_work, import_install, NULL};
static const struct job_kind job_peer_room = {
    "peer_room",    JOB_PATIENT | JOB_QUIET, NULL,
    peer_room_work, peer_room_install,       &job_peer_import};
static const struct job_kind job_peer_room_again = {"peer_room", JOB_QUICK, NULL,
                                                    NULL,        NULL,      &job_peer_room};
/* The stage after an answer whose address has to be freed first. */
static const struct job_kind job_peer_asked = {"peer_ask", JOB_QUICK, NULL,
                                               NULL,       NULL,      &job_peer_room};
/* The session's kernels run on until the answer comes; the next stage may have to wait for them. */
static void peer_ask_work(struct job *job)
{
    job->session_idle = job->session->memory.cover;
    peer_ask(job, LINK_PEER_IMPORT);
}

static void peer_ask_install(struct job *job)
{
    if (deferred_release_has(job->peer.answer.address))
        job->kind = &job_peer_asked;
}

static const struct job_kind job_peer_ask = {"peer_ask",    JOB_QUICK | JOB_ASKS, NULL,
                                             peer_ask_work, peer_ask_install,     &job_peer_import};

static void import_prepare(struct job *job)
{
    if (link_handle_device(job->arg) == (uint32_t)worker->device)
        job->session_idle = job->session->memory.cover;
    else
        job->kind = &job_peer_ask;
}

const struct job_kind job_mem_import = {"mem_import", JOB_QUICK | JOB_TAKEN_UP, import_prepare,
                                        import_work,  import_install,           NULL};

/* ---- Revoking an import ---------------------------------------------------------------------- */

static CUresult chunk_sink(struct session *session, struct chunk *chunk)
{
    CUresult result = CUDA_SUCCESS;

    vault_export_remove(chunk);
    chunk_unmap(chunk);
    physical_release(&chunk->holder);
    chunk->sunk = true;
    if (!session->memory.cover)
        result = sinks_cover(session, chunk->address, chunk->size);
    revoked_tell(session, chunk->holder.import);
    return result;
}

static void unshare_work(struct job *job)
{
    struct session *session = job->session;

    physical_unshare_begin(session);
    for (size_t i = 0; i < session->memory.window.count; i++) {
        struct chunk *chunk = session->memory.window.places[i].tag;
        if (chunk->holder.import == IMPORT_NONE || chunk->sunk || !physical_revoked(&chunk->holder))
            continue;
        pthread_mutex_lock(&session->memory.sinks_lock);
        CUresult result = chunk_sink(session, chunk);
        if (result)
            job_fail_driver(job, result);
        else if (session->memory.hole && job->status == GS_OK)
            job_fail(job, GS_ERR_DRIVER, "a sink could not be mapped");
        pthread_mutex_unlock(&session->memory.sinks_lock);
    }
}

const struct job_kind job_unshare = {
    "unshare", JOB_CHORE | JOB_PAUSE | JOB_PAUSE_UNTIL_DONE, NULL, unshare_work, NULL, NULL};

/* resume.c - see resume.h. */
#include "worker/memory/resume.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/util.h"
#include "worker/driver/supervisor_link.h"
#include "worker/jobs/job.h"
#include "worker/journal/journal.h"
#include "worker/memory/chunk.h"
#include "worker/memory/export.h"
#include "worker/memory/import.h"
#include "worker/memory/memory.h"
#include "worker/memory/peer_window.h"
#include "worker/memory/preload.h"
#include "worker/memory/window.h"

/* About how long all other sessions wait for one session at a takeover, at most. */
#define PROMPT_NS 5000000000u

struct resume *resume_new(uint32_t slot)
{
    struct resume *resume = calloc(1, sizeof(*resume));

    if (resume) {
        resume->slot = slot;
        resume->journal = -1;
        resume->prompt_until = clock_ns() + PROMPT_NS;
    }
    return resume;
}

bool resume_add(struct resume *resume, const struct link_vault *vault, int descriptor)
{
    if (resume->count == resume->capacity) {
        uint32_t capacity = resume->capacity ? 2 * resume->capacity : 16;
        struct resume_piece *pieces = reallocarray(resume->pieces, capacity, sizeof(*pieces));
        if (!pieces) {
            close(descriptor);
            return false;
        }
        resume->pieces = pieces;
        resume->capacity = capacity;
    }
    resume->pieces[resume->count++] =
        (struct resume_piece){vault->address, vault->size, vault->number, descriptor};
    return true;
}

void resume_free(struct resume *resume)
{
    if (!resume)
        return;
    for (uint32_t i = 0; i < resume->count; i++) {
        if (resume->pieces[i].descriptor >= 0)
            close(resume->pieces[i].descriptor);
    }
    if (resume->journal >= 0)
        close(resume->journal);
    preload_free(resume->preload);
    free(resume->pieces);
    free(resume->names);
    free(resume);
}

/* Searches by halves, since the vault sends its pieces in the order of their addresses. */
static struct resume_piece *piece_find(struct resume *resume, uint64_t address)
{
    uint32_t low = 0, high = resume->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (resume->pieces[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < resume->count && resume->pieces[low].address == address ? &resume->pieces[low]
                                                                         : NULL;
}

/* Returns whether a preloaded piece is the memory that the session has at that address. */
static bool preload_right(const struct job *job, struct resume *resume,
                          const struct preload_piece *preloaded)
{
    const struct journal *journal = job->session->journal;
    const struct journal_entry *entry = journal_find(journal, JOURNAL_CHUNK, preloaded->address);
    const struct resume_piece *piece = piece_find(resume, preloaded->address);
    const uint32_t import = entry ? chunk_noted_import(entry) : IMPORT_NONE;

    return entry && piece && piece->number == preloaded->number && piece->size == preloaded->size &&
           piece->size == entry->value[0] &&
           (import == IMPORT_NONE || !journal_revoked(journal, import));
}

/* Frees preloaded pieces that are not the session's: the former worker has freed their memory
 * since. */
static void preload_settle(const struct job *job, struct resume *resume)
{
    for (uint32_t i = 0; resume->preload && i < resume->preload->count; i++) {
        if (!preload_right(job, resume, &resume->preload->pieces[i]))
            preload_piece_deinit(&resume->preload->pieces[i]);
    }
}

/* Returns the preloaded piece that is mapped at the address; NULL: there is none. */
static struct preload_piece *preloaded_piece(const struct resume *resume, uint64_t address)
{
    struct preload_piece *piece = preload_piece_at(resume->preload, address);

    return piece && piece->mapped ? piece : NULL;
}

static gs_status own_resume(struct job *job, struct resume *resume,
                            const struct journal_entry *entry)
{
    struct resume_piece *piece = piece_find(resume, entry->key);
    struct chunk_source source;

    if (!piece || piece->descriptor < 0 || piece->size != entry->value[0])
        return job_fail(job, GS_ERR_INTERRUPTED,
                        "%" PRIu64 " bytes at 0x%" PRIx64 " were lost with the worker: they had "
                        "not reached the vault",
                        entry->value[0], entry->key);
    source = (struct chunk_source){.descriptor = piece->descriptor,
                                   .preloaded = preloaded_piece(resume, piece->address)};
    if (!chunk_adopt(job, entry, &source))
        return job->status;
    close(piece->descriptor);
    piece->descriptor = -1;
    return GS_OK;
}

static gs_status chunk_resume(struct job *job, struct resume *resume,
                              const struct journal_entry *entry)
{
    const uint32_t import = chunk_noted_import(entry);

    if (import == IMPORT_NONE)
        return own_resume(job, resume, entry);
    if (import_resume(job, import) != GS_OK)
        return job->status;
    if (journal_revoked(job->session->journal, import))
        chunk_adopt(job, entry, NULL);
    else
        own_resume(job, resume, entry);
    if (job->status != GS_OK)
        import_free(job->session, import);
    return job->status;
}

/* Returns whether the entry is of an import or lent chunk without an allocation: the worker was
 * lost between noting the two. Other chunks may be in use without an allocation at their address.
 */
static bool chunk_loose(const struct journal *journal, const struct journal_entry *entry)
{
    return entry->kind == JOURNAL_CHUNK && chunk_noted_lent(entry) &&
           !journal_find(journal, JOURNAL_ALLOCATION, entry->key);
}

/* Returns whether the entry is of an export whose chunk is gone, was not lent, or is loose. */
static bool export_loose(const struct journal *journal, const struct journal_entry *entry)
{
    const struct journal_entry *chunk;

    if (entry->kind != JOURNAL_EXPORT)
        return false;
    chunk = journal_find(journal, JOURNAL_CHUNK, entry->value[0]);
    return !chunk || !chunk_noted_lent(chunk) || chunk_loose(journal, chunk);
}

/* Returns whether the entry is of a kernel or variable whose module is gone. */
static bool member_loose(const struct journal *journal, const struct journal_entry *entry)
{
    return (entry->kind == JOURNAL_KERNEL &&
            !journal_find(journal, JOURNAL_MODULE, entry->value[0])) ||
           (entry->kind == JOURNAL_VARIABLE &&
            !journal_find(journal, JOURNAL_MODULE, entry->value[1]));
}

/* Returns whether the entry is loose: left by the one request that was in progress when the worker
 * was lost. A module that was being unloaded may leave thousands of loose kernels. */
static bool entry_loose(const struct journal *journal, const struct journal_entry *entry)
{
    return chunk_loose(journal, entry) || export_loose(journal, entry) ||
           member_loose(journal, entry);
}

/* Fails the job of a session whose time is over because its journal has very many entries. */
static gs_status on_time(struct job *job)
{
    return journal_late(job->session->journal, job->session->resume->prompt_until)
               ? job_fail(job, GS_ERR_INTERRUPTED, "the session could not be kept: " JOURNAL_LATE)
               : GS_OK;
}

/* ---- Allocations ----------------------------------------------------------------------------- */

static gs_status allocation_resume(struct job *job, uint64_t address, uint64_t size)
{
    if (!memory_adopt(job->session, address, size) ||
        !allocations_put(&job->session->memory.allocations, address, size, NULL))
        return job_fail(job, GS_ERR_INTERRUPTED, "an allocation has no place in its chunk");
    memory_record_adopt(job->session);
    return GS_OK;
}

struct allocation {
    uint64_t address, size;
};

static int by_address(const void *a, const void *b)
{
    const struct allocation *left = a, *right = b;

    return (left->address > right->address) - (left->address < right->address);
}

/* Collects the journal's allocations, sorted by address; *sorted is the caller's to free. The
 * tables to be filled are arrays in this order: out of order, each insertion would move thousands
 * of entries, and a million insertions would take 8 s. On failure the job has failed. */
static gs_status allocations_sort(struct job *job, struct allocation **sorted, size_t *count)
{
    const struct journal *journal = job->session->journal;
    bool in_order = true;
    size_t room = 0;

    for (const struct journal_entry *e = NULL; (e = journal_next(journal, e));)
        room += e->kind == JOURNAL_ALLOCATION;
    *count = 0;
    *sorted = reallocarray(NULL, room + 1, sizeof(**sorted));
    if (!*sorted)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory for a session's allocations");
    for (const struct journal_entry *e = NULL; (e = journal_next(journal, e));) {
        if (e->kind != JOURNAL_ALLOCATION)
            continue;
        in_order = in_order && (!*count || (*sorted)[*count - 1].address < e->key);
        (*sorted)[(*count)++] = (struct allocation){e->key, e->value[0]};
    }
    if (!in_order)
        qsort(*sorted, *count, sizeof(**sorted), by_address);
    return on_time(job);
}

static gs_status allocations_resume(struct job *job)
{
    CLEANUP_FREE struct allocation *sorted = NULL;
    size_t count;

    if (allocations_sort(job, &sorted, &count) != GS_OK)
        return job->status;
    for (size_t i = 0; i < count; i++) {
        if (allocation_resume(job, sorted[i].address, sorted[i].size) != GS_OK)
            return job->status;
    }
    return GS_OK;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* Reserves the peer windows that the journal names. On failure the job has failed. */
static gs_status peer_windows_resume(struct job *job)
{
    const struct journal *journal = job->session->journal;

    for (const struct journal_entry *e = NULL; (e = journal_next(journal, e));) {
        if (e->kind == JOURNAL_PEER &&
            !peer_window_reserve_again(job->session, e->key, e->value[0]))
            return job_fail(job, GS_ERR_INTERRUPTED,
                            "another device's addresses are not free any more");
    }
    return GS_OK;
}

static gs_status chunks_resume(struct job *job, struct resume *resume)
{
    const struct journal *journal = job->session->journal;

    for (const struct journal_entry *e = NULL; (e = journal_next(journal, e));) {
        if (e->kind == JOURNAL_CHUNK &&
            (on_time(job) != GS_OK || chunk_resume(job, resume, e) != GS_OK))
            return job->status;
    }
    return GS_OK;
}

gs_status memory_resume(struct job *job, struct resume *resume)
{
    const struct journal *journal = job->session->journal;

    journal_sweep(job->session->journal, entry_loose);
    preload_settle(job, resume);
    preload_hosts_settle(resume->preload, journal);
    if (peer_windows_resume(job) == GS_OK)
        chunks_resume(job, resume);
    preload_pieces_deinit(resume->preload); /* also on failure, after which the window is freed */
    if (job->status != GS_OK || allocations_resume(job) != GS_OK)
        return job->status;
    for (const struct journal_entry *e = NULL; (e = journal_next(journal, e));) {
        if (e->kind == JOURNAL_EXPORT &&
            export_resume(job, chunk_at(job->session, e->value[0]), e) != GS_OK)
            return job->status;
    }
    return GS_OK;
}

/* Returns a chunk that nothing uses, left by the request that was in progress; NULL: there is none.
 */
static struct chunk *unnamed_find(const struct session *session)
{
    for (size_t i = 0; i < session->memory.window.count; i++) {
        struct chunk *chunk = session->memory.window.places[i].tag;
        const bool empty = chunk->shared ? chunk->blocks.count == 0 : !chunk->named;

        if (empty && !chunk->sunk && chunk->holder.import == IMPORT_NONE &&
            chunk != session->memory.spare)
            return chunk;
    }
    return NULL;
}

void memory_resume_end(struct session *session)
{
    peer_windows_settle(session);
    for (struct chunk *chunk; (chunk = unnamed_find(session));)
        chunk_free(session, chunk);
}

void resume_drop_rest(const struct job *job, const struct resume *resume)
{
    for (uint32_t i = 0; i < resume->count; i++) {
        struct link_message message = {.op = LINK_VAULT_DROP, .slot = job->session->slot};

        if (resume->pieces[i].descriptor < 0)
            continue;
        message.u.vault = (struct link_vault){.address = resume->pieces[i].address,
                                              .size = resume->pieces[i].size};
        link_send(&message, -1);
    }
}

/*
 * memory_share.c - memory that one session lets another one use: exports, imports, and revoking.
 *
 * Runs in jobs, on service threads. An export is a row of one table for the whole device, named by
 * its index and a random key, which only a holder of the handle can know; the row names the
 * receiver. An import is a chunk of the importer's window that maps the same physical memory; it
 * can outlive the owner's chunk.
 *
 * Revoking must not leave a hole in the importer's window: a kernel that still has the address
 * would fault, and end the context for all tenants. So sinks (sink.h) are mapped where a revoked
 * import was. A job of the importer's session (job_unshare) does this once the device has finished
 * what that session has issued, because no kernel of the session may run between unmapping and
 * mapping.
 */
#include "worker/memory/memory_share.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "worker/journal/journal.h"
#include "worker/memory/sink.h"

#define EXPORTS_MAX 1024u /* of a session */
#define KEY_WORDS   3u

struct mem_export {
    struct mem_export *next; /* of the same chunk */
    uint32_t index;          /* its row in the table */
    uint64_t key[KEY_WORDS];
    const struct session *owner;
    struct physical *memory;
    uint64_t size;     /* of the exported allocation */
    uint64_t receiver; /* the session that may import it; 0: any session of the owner's user */
};

/* The exports of all sessions. A thread that holds the lock and finds an export knows that the
 * export's memory lives. */
static struct {
    pthread_mutex_t lock;
    struct mem_export **row;
    uint32_t capacity, cursor;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A session's imports. */
struct imports {
    uint32_t count;
    uint64_t taken[SEG_IMPORTS / 64]; /* numbers in use */
};

/* ---- The table of exports, under its lock ---------------------------------------------------- */

/* Finds a free row, from the last one taken on. UINT32_MAX: no memory. */
static uint32_t row_find(void)
{
    for (uint32_t n = 0; n < table.capacity; n++) {
        uint32_t index = (table.cursor + n) % table.capacity;
        if (!table.row[index])
            return table.cursor = index;
    }
    uint32_t index = table.capacity, capacity = index ? index * 2 : 64;
    struct mem_export **row = reallocarray(table.row, capacity, sizeof(struct mem_export *));
    if (!row)
        return UINT32_MAX;
    memset(row + index, 0, (capacity - index) * sizeof(struct mem_export *));
    table.row = row;
    table.capacity = capacity;
    return table.cursor = index;
}

static bool export_add(struct mem_export *made)
{
    pthread_mutex_lock(&table.lock);
    made->index = row_find();
    if (made->index != UINT32_MAX)
        table.row[made->index] = made;
    pthread_mutex_unlock(&table.lock);
    return made->index != UINT32_MAX;
}

/* Compares every word of the key, also after a difference, so that the time taken tells nothing
 * about the key. */
static const struct mem_export *export_find(uint64_t index, const uint64_t key[KEY_WORDS])
{
    const struct mem_export *found = index < table.capacity ? table.row[index] : NULL;
    uint64_t difference = 0;

    for (uint32_t i = 0; found && i < KEY_WORDS; i++)
        difference |= found->key[i] ^ key[i];
    return difference ? NULL : found;
}

void memory_share_void(struct chunk *chunk)
{
    if (!chunk->exports)
        return;
    pthread_mutex_lock(&table.lock);
    for (const struct mem_export *e = chunk->exports; e; e = e->next)
        table.row[e->index] = NULL;
    pthread_mutex_unlock(&table.lock);
    while (chunk->exports) {
        struct mem_export *e = chunk->exports;
        chunk->exports = e->next;
        chunk->holder.session->memory.exports--;
        free(e);
    }
}

/* ---- Exporting ------------------------------------------------------------------------------- */

/* Checks that the owner names the start of an allocation that its tenant made; on failure the job
 * has failed. Stores the allocation's size in arg[2]. Main lane. */
static void own_prepare(struct job *job)
{
    const struct span *span = space_at(&job->session->memory.allocations, job->arg[0]);

    if (!span || span->tag)
        job_fail(job, GS_ERR_INVALID_POINTER, "0x%" PRIx64 " is not the start of an allocation",
                 job->arg[0]);
    else
        job->arg[2] = span->size;
}

static struct chunk *own_chunk(struct job *job)
{
    struct chunk *chunk = chunk_at(job->session, job->arg[0]);

    if (!chunk || chunk->shared) {
        job_fail(job, GS_ERR_INVALID_VALUE,
                 "an allocation of %" PRIu64 " bytes shares its %" PRIu64
                 " bytes of memory with others; from %" PRIu64 " bytes on it has its own",
                 job->arg[2], worker->granularity, worker->granularity / 2);
        return NULL;
    }
    if (chunk->import != CHUNK_OWN) {
        job_fail(job, GS_ERR_PERMISSION,
                 "0x%" PRIx64 " is imported; only its owner can export or revoke it", job->arg[0]);
        return NULL;
    }
    return chunk;
}

static struct mem_export *export_new(struct job *job, const struct chunk *chunk)
{
    struct mem_export *made;

    if (job->session->memory.exports >= EXPORTS_MAX) {
        job_fail(job, GS_ERR_LIMIT, "the session has %u exports, the limit", EXPORTS_MAX);
        return NULL;
    }
    made = calloc(1, sizeof(*made));
    if (!made) {
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an export's record");
        return NULL;
    }
    made->owner = job->session;
    made->memory = chunk->holder.memory;
    made->size = job->arg[2];
    made->receiver = job->arg[1];
    if (getrandom(made->key, sizeof(made->key), 0) != (ssize_t)sizeof(made->key))
        job_fail(job, GS_ERR_SYSTEM, "getrandom: %s", strerror(errno));
    else if (!export_add(made))
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for the table of exports");
    if (job->status == GS_OK)
        return made;
    free(made);
    return NULL;
}

static void export_work(struct job *job)
{
    struct chunk *chunk = own_chunk(job);
    struct mem_export *e = chunk ? chunk->exports : NULL;

    if (!chunk)
        return;
    journal_spoil(job->session->journal, "it has exported memory");
    while (e && e->receiver != job->arg[1])
        e = e->next;
    if (!e) {
        e = export_new(job, chunk);
        if (!e)
            return;
        e->next = chunk->exports;
        chunk->exports = e;
        job->session->memory.exports++;
    }
    job->ret[0] = e->index;
    memcpy(&job->ret[1], e->key, sizeof(e->key));
}

static void revoke_work(struct job *job)
{
    struct chunk *chunk = own_chunk(job);

    if (!chunk)
        return;
    memory_share_void(chunk);
    physical_revoke(job, &chunk->holder);
}

const struct job_kind job_mem_export = {"mem_export", JOB_QUICK, own_prepare,
                                        export_work,  NULL,      NULL};
const struct job_kind job_mem_revoke = {"mem_revoke", JOB_QUICK, own_prepare,
                                        revoke_work,  NULL,      NULL};

/* ---- Importing ------------------------------------------------------------------------------- */

/* Makes the session's table of imports where there is none. On failure the job has failed. */
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

static gs_status number_take(struct job *job, uint32_t *number)
{
    struct imports *imports = job->session->memory.imports;

    for (uint32_t i = 0; i < SEG_IMPORTS / 64; i++) {
        if (imports->taken[i] == UINT64_MAX)
            continue;
        *number = i * 64 + (uint32_t)__builtin_ctzll(~imports->taken[i]);
        imports->taken[i] |= UINT64_C(1) << *number % 64;
        imports->count++;
        return GS_OK;
    }
    return job_fail(job, GS_ERR_LIMIT, "the session has %u imports, the limit", SEG_IMPORTS);
}

/* Holds the memory that the handle names, if the export is for this session. On failure the job has
 * failed. */
static gs_status import_join(struct job *job, struct holder *holder)
{
    const struct session *session = job->session;
    const struct mem_export *e;

    pthread_mutex_lock(&table.lock);
    e = export_find(job->arg[0], &job->arg[1]);
    if (!e) {
        job_fail(job, GS_ERR_NOT_FOUND,
                 "no export of this device has that handle: it was revoked, its owner has freed it "
                 "or ended, or it is of another device or server");
    } else if (e->receiver ? e->receiver != session->id : e->owner->uid != session->uid) {
        job_fail(job, GS_ERR_PERMISSION, "the export is for %s, not for session %" PRIu64,
                 e->receiver ? "another session" : "sessions of another user", session->id);
    } else if (physical_hold(job, e->memory, holder) == GS_OK) {
        job->ret[1] = e->size;
    }
    pthread_mutex_unlock(&table.lock);
    return job->status;
}

/* Maps the memory that the chunk holds at a place in the window. The vault does not get it: a
 * session that has imported ends with its worker. */
static gs_status import_map(struct job *job, struct chunk *chunk)
{
    CUresult result;

    if (chunk_address_take(job, chunk) != GS_OK)
        return job->status;
    result = chunk_map(chunk);
    if (!result)
        return GS_OK;
    chunk_address_free(job->session, chunk);
    return job_fail_driver(job, result);
}

static _Atomic uint64_t *revoked_word(const struct session *session, uint32_t number)
{
    return &session->server->revoked[number / 64];
}

static void import_work(struct job *job)
{
    struct session *session = job->session;
    struct chunk *chunk;

    journal_spoil(session->journal, "it has imported memory");
    if (imports_init(job) != GS_OK)
        return;
    chunk = calloc(1, sizeof(*chunk));
    if (!chunk) {
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an import's record");
        goto close;
    }
    if (import_join(job, &chunk->holder) != GS_OK)
        goto free_chunk;
    if (number_take(job, &chunk->import) != GS_OK)
        goto leave;
    /* Relaxed: the client learns the number only with the answer, which is stored later. */
    atomic_fetch_and_explicit(revoked_word(session, chunk->import),
                              ~(UINT64_C(1) << chunk->import % 64), memory_order_relaxed);
    if (import_map(job, chunk) == GS_OK) {
        job->ret[0] = chunk->address;
        job->ret[2] = chunk->import;
        return;
    }
    physical_release(&chunk->holder);
    import_free(session, chunk->import);
    free(chunk);
    return;

leave:
    physical_release(&chunk->holder);
free_chunk:
    free(chunk);
close:
    imports_deinit(session);
}

static void import_install(struct job *job)
{
    if (!space_put(&job->session->memory.allocations, job->ret[0], job->ret[1], NULL)) {
        /* Happens only when host memory is short; the import stays mapped until the session
         * ends. */
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an import's record");
    }
}

static void import_prepare(struct job *job)
{
    job->quiesce = job->session->memory.cover;
}

const struct job_kind job_mem_import = {"mem_import", JOB_QUICK,      import_prepare,
                                        import_work,  import_install, NULL};

/* ---- Revoking an import ---------------------------------------------------------------------- */

static CUresult chunk_sink(struct session *session, struct chunk *chunk)
{
    CUresult result = CUDA_SUCCESS;

    chunk_unmap(chunk);
    physical_release(&chunk->holder);
    chunk->sunk = true;
    if (!session->memory.cover)
        result = sinks_cover(session, chunk->address, chunk->size);
    /* Relaxed: the word stands by itself. */
    atomic_fetch_or_explicit(revoked_word(session, chunk->import),
                             UINT64_C(1) << chunk->import % 64, memory_order_relaxed);
    return result;
}

static void unshare_work(struct job *job)
{
    struct session *session = job->session;

    for (size_t i = 0; i < session->memory.window.count; i++) {
        struct chunk *chunk = session->memory.window.spans[i].tag;
        if (chunk->import == CHUNK_OWN || chunk->sunk || !physical_revoked(&chunk->holder))
            continue;
        CUresult result = chunk_sink(session, chunk);
        if (result)
            job_fail_driver(job, result);
    }
}

const struct job_kind job_unshare = {"unshare", JOB_CHORE | JOB_IDLE, NULL, unshare_work, NULL,
                                     NULL};

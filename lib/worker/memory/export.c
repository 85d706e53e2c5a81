/*
 * export.c - exports: memory of a session that others may import, and its revocation.
 *
 * Runs in jobs, on service threads. An export stands in one table for the whole device
 * (export_table.h) and names its receiver. Importers of this device (import.h) hold the exported
 * chunk's physical memory together with its owner, and can outlive the owner's chunk; importers of
 * other devices cannot.
 *
 * Exports and imports outlive the worker. Each holder's journal notes that the memory is shared,
 * and the memory's number (physical.h), and each holder has a descriptor of its own in the vault,
 * so that no holder depends on another that has ended or could not be taken up. The owner's journal
 * has the handles. A request about another session's memory waits until all sessions have been
 * taken up (JOB_TAKEN_UP).
 */
#include "worker/memory/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "worker/driver/supervisor_link.h"
#include "worker/memory/export_table.h"
#include "worker/memory/vault_export.h"

#define EXPORTS_MAX 1024u /* for each session */

/* Enters an export of a chunk, which belongs to the calling job, into the table and the chunk's
 * list. */
static void export_enter(struct mem_export *made, struct chunk *chunk)
{
    exports_lock();
    exports_add(made);
    exports_unlock();
    made->next = chunk->exports;
    chunk->exports = made;
    chunk->holder.session->memory.exports++;
}

void export_void(struct chunk *chunk)
{
    if (!chunk->exports)
        return;
    exports_lock();
    for (struct mem_export *e = chunk->exports; e; e = e->next)
        exports_remove(e);
    exports_unlock();
    while (chunk->exports) {
        struct mem_export *e = chunk->exports;
        struct session *session = chunk->holder.session;
        journal_remove(session->journal, JOURNAL_EXPORT, e->handle[0]);
        chunk->exports = e->next;
        session->memory.exports--;
        free(e);
    }
}

/* Checks that the tenant names the start of an allocation that it made, and stores the allocation's
 * size in arg[2]. On failure the job has failed. Main lane. */
static void own_prepare(struct job *job)
{
    const struct place *place = allocations_at(&job->session->memory.allocations, job->arg[0]);

    if (!place || place->tag)
        job_fail(job, GS_ERR_INVALID_POINTER, "0x%" PRIx64 " is not the start of an allocation",
                 job->arg[0]);
    else
        job->arg[2] = place->size;
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
    if (chunk->holder.import != IMPORT_NONE) {
        job_fail(job, GS_ERR_PERMISSION,
                 "0x%" PRIx64 " is imported; only its owner can export or revoke it", job->arg[0]);
        return NULL;
    }
    return chunk;
}

/* Makes an export of the chunk, without a handle. NULL: no memory. */
static struct mem_export *export_begin(const struct chunk *chunk, uint64_t size, uint64_t receiver)
{
    struct mem_export *made = calloc(1, sizeof(*made));

    if (!made)
        return NULL;
    made->owner = chunk->holder.session;
    made->memory = chunk->holder.memory;
    made->address = chunk->address;
    made->size = size;
    made->receiver = receiver;
    return made;
}

static struct mem_export *export_new(struct job *job, struct chunk *chunk)
{
    struct mem_export *made;

    if (job->session->memory.exports >= EXPORTS_MAX) {
        job_fail(job, GS_ERR_LIMIT, "the session has %u exports, the limit", EXPORTS_MAX);
        return NULL;
    }
    made = export_begin(chunk, job->arg[2], job->arg[1]);
    if (!made) {
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an export's record");
        return NULL;
    }
    if (getrandom(made->handle, sizeof(made->handle), 0) != (ssize_t)sizeof(made->handle)) {
        job_fail(job, GS_ERR_SYSTEM, "getrandom: %s", strerror(errno));
        free(made);
        return NULL;
    }
    link_handle_set_device(made->handle, (uint32_t)worker->device);
    export_enter(made, chunk);
    return made;
}

static void export_note(const struct mem_export *made)
{
    const uint64_t value[JOURNAL_VALUES] = {made->address, made->size, made->receiver};

    journal_put(made->owner->journal, JOURNAL_EXPORT, made->handle[0], value, &made->handle[1],
                sizeof(made->handle) - sizeof(made->handle[0]));
}

/* Marks the chunk as lent, since other sessions may hold its memory from now on. */
static void chunk_lend(struct chunk *chunk)
{
    if (chunk->lent)
        return;
    vault_export_lent(chunk);
    chunk->lent = true;
    chunk_note(chunk);
}

static void export_work(struct job *job)
{
    struct chunk *chunk = own_chunk(job);
    struct mem_export *e = chunk ? chunk->exports : NULL;

    if (!chunk)
        return;
    while (e && e->receiver != job->arg[1])
        e = e->next;
    if (!e) {
        chunk_lend(chunk);
        e = export_new(job, chunk);
        if (!e)
            return;
        export_note(e);
    }
    memcpy(job->ret, e->handle, sizeof(e->handle));
}

gs_status export_resume(struct job *job, struct chunk *chunk, const struct journal_entry *entry)
{
    struct mem_export *made = export_begin(chunk, entry->value[1], entry->value[2]);

    if (!made)
        return job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an export's record");
    made->handle[0] = entry->key;
    memcpy(&made->handle[1], entry->bytes, sizeof(made->handle) - sizeof(made->handle[0]));
    export_enter(made, chunk);
    return GS_OK;
}

static void revoke_work(struct job *job)
{
    struct chunk *chunk = own_chunk(job);

    if (!chunk)
        return;
    export_void(chunk);
    if (physical_revoke(job, &chunk->holder) == GS_OK)
        vault_export_revoke(chunk);
}

const char *export_refusal(const struct mem_export *export, uint64_t session_id, uint32_t uid,
                           gs_status *status)
{
    *status = GS_ERR_NOT_FOUND;
    if (!export)
        return "no export has that handle: it was revoked, its owner has freed it or ended, or it "
               "is of another server";
    *status = GS_ERR_PERMISSION;
    if (export->receiver)
        return export->receiver == session_id ? NULL : "the export is for another session";
    return export->owner->uid == uid ? NULL : "the export is for sessions of another user";
}

void export_answer(const struct link_message *asked)
{
    const struct link_peer_ask *ask = &asked->u.peer_ask;
    struct link_message message = {.op = LINK_PEER_EXPORTED, .slot = asked->slot};
    struct link_peer_answer *answer = &message.u.peer_answer;
    const struct mem_export *e;
    const char *refused;
    gs_status status;

    answer->ask = ask->ask;
    exports_lock();
    e = exports_find(ask->handle);
    refused = export_refusal(e, ask->session_id, ask->uid, &status);
    if (refused) {
        answer->status = status;
        snprintf(message.text, sizeof(message.text), "%s", refused);
    } else {
        answer->from = e->owner->slot;
        answer->address = e->address;
        answer->size = e->size;
        answer->piece_size = physical_size(e->memory);
    }
    /* The answer is sent under the lock. A message that voids the export then follows it, so the
     * supervisor finds either the memory that was exported or none. */
    link_send(&message, -1);
    exports_unlock();
}

const struct job_kind job_mem_export = {"mem_export", JOB_QUICK, own_prepare,
                                        export_work,  NULL,      NULL};
const struct job_kind job_mem_revoke = {
    "mem_revoke", JOB_QUICK | JOB_TAKEN_UP, own_prepare, revoke_work, NULL, NULL};

/*
 * export.h - exports: memory of a session that other sessions may import; see export.c. Service
 * threads.
 */
#ifndef GS_WORKER_MEMORY_EXPORT_H
#define GS_WORKER_MEMORY_EXPORT_H

#include "worker/memory/chunk.h"

struct mem_export;

/* Voids the exports of a chunk that is about to be freed. Importers on this device keep the memory.
 */
void export_void(struct chunk *chunk);
/* Makes the chunk's export again from a former worker's journal entry. On failure the job has
 * failed. */
gs_status export_resume(struct job *job, struct chunk *chunk, const struct journal_entry *entry);
/* Returns why a session may not import the export, with *status for the refusal; NULL: it may.
 * export NULL: there is none. The caller holds the exports' lock. */
const char *export_refusal(const struct mem_export *export, uint64_t session_id, uint32_t uid,
                           gs_status *status);
/* Answers a LINK_PEER_EXPORT. Control thread. */
void export_answer(const struct link_message *asked);

#endif

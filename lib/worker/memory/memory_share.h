/*
 * memory_share.h - memory that one session lets another one use; see memory_share.c. Service
 * threads.
 */
#ifndef GS_WORKER_MEMORY_MEMORY_SHARE_H
#define GS_WORKER_MEMORY_MEMORY_SHARE_H

#include "worker/memory/chunk.h"

/* Voids the exports of a chunk that is about to be freed. Importers on this device keep the memory.
 */
void memory_share_void(struct chunk *chunk);
/* Forgets a freed import by its number. */
void import_free(struct session *session, uint32_t number);

/* Answers a LINK_PEER_EXPORT. Control thread. */
void export_tell(const struct link_message *message);

/* The next two take up what a former worker has made. On failure the job has failed. */
/* Notes an import by its number, before its chunk is made again. */
gs_status import_resume(struct job *job, uint32_t number);
/* Makes the chunk's export of an entry. */
gs_status export_resume(struct job *job, struct chunk *chunk, const struct journal_entry *entry);

#endif

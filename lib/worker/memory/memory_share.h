/*
 * memory_share.h - memory that one session lets another one use; see memory_share.c. Service
 * threads.
 */
#ifndef GS_WORKER_MEMORY_MEMORY_SHARE_H
#define GS_WORKER_MEMORY_MEMORY_SHARE_H

#include "worker/memory/chunk.h"

/* Voids the exports of a chunk that is about to be freed. Importers keep the memory. */
void memory_share_void(struct chunk *chunk);
/* Forgets a freed import by its number. */
void import_free(struct session *session, uint32_t number);

#endif

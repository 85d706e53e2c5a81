/*
 * vault_export.h - vault export: a copy of every chunk's file descriptor goes to the supervisor's
 * vault, so that the memory can outlive this process. Service threads.
 *
 * The driver takes longer to make a descriptor than for all the rest of an allocation, and no
 * tenant needs the descriptor. So whichever service thread comes first makes it after the answer.
 * Until then a take-over would not find the chunk.
 */
#ifndef GS_WORKER_MEMORY_VAULT_EXPORT_H
#define GS_WORKER_MEMORY_VAULT_EXPORT_H

#include "worker/memory/chunk.h"

/* Queues a mapped chunk for the vault. It is exported after the job that made it has its answer. */
void vault_export_add(struct job *job, struct chunk *chunk);
/* Takes the chunk out of the vault, or out of the queue. Called before the chunk gives its memory
 * up. */
void vault_export_remove(struct chunk *chunk);
/* Exports all queued chunks, unless another thread is doing so. */
void vault_export_flush(void);

#endif

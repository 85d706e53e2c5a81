/*
 * vault_export.h - into the supervisor's vault: a copy of every chunk's descriptor, by which memory
 * can outlive this process. Service threads.
 *
 * The driver takes longer to make a descriptor than for all the rest of an allocation, and no
 * tenant needs it: it is made after the answer, by whichever service thread comes first. Until then
 * a take-over would not find that chunk.
 */
#ifndef GS_WORKER_MEMORY_VAULT_EXPORT_H
#define GS_WORKER_MEMORY_VAULT_EXPORT_H

#include "worker/memory/chunk.h"

/* The chunk, which is at its place, is to be put into the vault, after the job that made it has its
 * answer. */
void vault_export_add(struct job *job, struct chunk *chunk);
/* Out of it again, or out of the queue to it. Before the chunk gives its memory up. */
void vault_export_remove(struct chunk *chunk);
/* Puts in what waits, unless another thread is at it. */
void vault_export_flush(void);

#endif

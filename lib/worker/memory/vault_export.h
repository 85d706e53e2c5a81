/*
 * vault_export.h - vault export: a copy of every chunk's file descriptor goes to the supervisor's
 * vault, so that the memory can outlive this process. Service threads; a chunk belongs to its
 * session's job in progress, so what is sent of one comes in that order.
 *
 * A chunk is exported before the journal has it and before its tenant has the answer: what a tenant
 * has been given outlives the worker whenever that is lost. A message that was sent, with its
 * descriptor, stays in the socket when this process has ended, and the supervisor reads it before
 * it takes the worker for lost.
 */
#ifndef GS_WORKER_MEMORY_VAULT_EXPORT_H
#define GS_WORKER_MEMORY_VAULT_EXPORT_H

#include "worker/memory/chunk.h"

/* Sends the chunk's descriptor to the vault, unless the session ends with its worker anyway. On
 * failure the memory stays usable, but cannot outlive this process. */
void vault_export(struct chunk *chunk);
/* The same for a chunk that is about to be exported: others, who may outlive the worker, will hold
 * its memory. */
void vault_export_lent(struct chunk *chunk);
/* Lets the vault keep for the chunk, an import, what it keeps for another session's chunk of the
 * same memory. */
void vault_export_import(struct chunk *chunk, uint32_t from_slot, uint64_t from_address);
/* The same for an import of another device, also where the session ends with its worker: so the
 * supervisor knows who has the memory. number: as the supervisor has told it. */
void vault_export_peer(struct chunk *chunk, uint64_t number);
/* The import could not be made. */
void vault_export_peer_failed(const struct session *session, uint64_t number);
/* Takes the chunk's memory back from sessions of other devices. */
void vault_export_revoke(const struct chunk *chunk);
/* Takes the chunk out of the vault, if it is there. Called before the chunk gives its memory up. */
void vault_export_remove(struct chunk *chunk);

#endif

/*
 * vault_export.h - vault export: a copy of every chunk's file descriptor goes to the supervisor's
 * vault, so that the memory can outlive this process. Service threads; a chunk belongs to its
 * session's job in progress, so the messages about a chunk are sent in the order of their causes.
 *
 * A chunk is exported before the journal notes it and before its tenant gets the answer, so memory
 * that a tenant was given outlives the worker whenever the worker is lost: a message that was sent,
 * with its descriptor, stays in the socket when this process has ended, and the supervisor reads it
 * before it treats the worker as lost.
 */
#ifndef GS_WORKER_MEMORY_VAULT_EXPORT_H
#define GS_WORKER_MEMORY_VAULT_EXPORT_H

#include "worker/memory/chunk.h"

/* Sends the chunk's descriptor to the vault, unless the session cannot outlive its worker anyway.
 * On failure the memory stays usable, but cannot outlive this process. */
void vault_export(struct chunk *chunk);
/* Sends the descriptor of a chunk that is about to be exported to other sessions, also where its
 * own session cannot outlive the worker: the other sessions may. */
void vault_export_lent(struct chunk *chunk);
/* Has the vault duplicate, for an imported chunk, the descriptor that it keeps for the owner's
 * chunk. */
void vault_export_import(struct chunk *chunk, uint32_t from_slot, uint64_t from_address);
/* Tells the supervisor that an import of another device is mapped, also where the session cannot
 * outlive its worker: the supervisor has to know who holds the memory. number: the one that the
 * supervisor has assigned. */
void vault_export_peer(struct chunk *chunk, uint64_t number);
/* Tells the supervisor that such an import could not be made. */
void vault_export_peer_failed(const struct session *session, uint64_t number);
/* Takes the chunk's memory back from sessions of other devices. */
void vault_export_revoke(const struct chunk *chunk);
/* Removes the chunk from the vault, if it is there. Called before the chunk releases its memory. */
void vault_export_remove(struct chunk *chunk);

#endif

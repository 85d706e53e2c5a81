/*
 * peer_memory.h - memory that a session of one device, the owner, lends a session of another one,
 * the importer: the importer's worker asks for an export, the owner's worker says whether there is
 * one for that session, and the vault's descriptor of the memory goes to the importer's worker
 * (common/link.h). The vault keeps a descriptor for the importer too, with the memory's origin.
 *
 * The memory is the owner's: when the owner frees or revokes it, or ends, the importers' workers
 * are told to take it back, also those that are just being replaced.
 */
#ifndef GS_SERVER_PEER_MEMORY_H
#define GS_SERVER_PEER_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"

struct device;
struct server;
struct session;

/* LINK_PEER_IMPORT: the session wants to import. false: the message makes no sense. */
bool peer_import_ask(struct session *session, const struct link_peer_ask *ask);
/* LINK_PEER_EXPORTED: the answer of the owner's device. */
bool peer_exported(struct device *device, const struct link_message *message);
/* LINK_VAULT_PEER: the session has mapped what it was given. */
bool peer_import_keep(struct session *session, const struct link_vault *vault);
/* Takes back from sessions of other devices what the session has at that address. */
void peer_memory_revoke(struct session *owner, uint64_t address);
/* The same of all its memory: the session ends. */
void peer_memory_end(struct session *owner);
/* Tells the worker of a session what was taken back while it, or the supervisor, was replaced. */
void peer_imports_tell(struct session *session);
/* Asks for what sessions want to import and could not be asked for yet, at the end of each round.
 */
void peer_memory_go_on(struct server *server);
/* Goes on where a killed supervisor was, once all workers have said what they have. Until then
 * (server->restoring) no worker is told of what is taken back, since not all can be. */
void peer_memory_restore(struct server *server);

#endif

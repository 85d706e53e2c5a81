/*
 * peer_memory.h - memory that a session of one device, the owner, lends a session of another one,
 * the importer: the importer's worker asks for an export, the owner's worker says whether there is
 * one for that session, and the vault's descriptor of the memory goes to the importer's worker
 * (common/link.h). The vault keeps a descriptor for the importer too, with its loan (loans.h).
 *
 * The memory is the owner's: when the owner frees or revokes it, or ends, the importers' workers
 * are told to take it back, also those that are just being replaced.
 *
 * Workers are asked and told at the end of the round, a bounded number of times in each.
 */
#ifndef GS_SERVER_PEER_MEMORY_H
#define GS_SERVER_PEER_MEMORY_H

#include <stdbool.h>

#include "common/link.h"

struct device;
struct server;
struct session;

/* Takes LINK_PEER_IMPORT: the session wants to import. false: the message makes no sense. */
bool peer_import_ask(struct session *session, const struct link_peer_ask *ask);
/* Takes LINK_PEER_WINDOW and answers it. false: the message makes no sense. */
bool peer_window_ask(struct session *session, const struct link_peer_ask *ask);
/* Refuses the import of a session that ends, if it has asked for one. */
void peer_import_refuse(struct session *session);
/* Forgets what a session whose worker is lost has asked for: nobody waits for the answer, and the
 * next worker asks again. */
void peer_import_cancel(struct session *session);
/* Takes LINK_PEER_EXPORTED, the answer of the owner's device. */
bool peer_exported(struct device *device, const struct link_message *message);
/* Takes LINK_VAULT_PEER: the session has mapped what it was given, or, of 0 bytes, could not. */
bool peer_import_keep(struct session *session, const struct link_vault *vault);
/* Tells the session's next worker what was taken back meanwhile. */
void peer_imports_tell(struct session *session);
/* Ends the loans and imports of a session that has lost its memory. */
void peer_memory_deinit(struct session *session);
/* Asks and tells workers, at the end of each round. */
void peer_memory_go_on(struct server *server);
/* Has workers asked and told once more, now that all have said what they have (server->restoring).
 */
void peer_memory_restore(struct server *server);

#endif

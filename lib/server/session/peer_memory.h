/*
 * peer_memory.h - memory that a session (the owner) lends to a session of another device (the
 * importer). The importer's worker asks for an export, the owner's worker says whether there is one
 * for that session, and the supervisor sends the vault's descriptor of the memory to the importer's
 * worker (common/link.h). The vault keeps a descriptor for the importer too, with its loan
 * (loans.h).
 *
 * When the owner frees or revokes the memory, or ends, the supervisor tells the importers' workers
 * to revoke the imports, including workers that are just being replaced.
 *
 * The supervisor sends these messages at the end of each round, a bounded number in each.
 */
#ifndef GS_SERVER_PEER_MEMORY_H
#define GS_SERVER_PEER_MEMORY_H

#include <stdbool.h>

#include "common/link.h"

struct device;
struct server;
struct session;

/* Handles LINK_PEER_IMPORT: the session wants to import. Returns false if the message is
 * invalid. */
bool peer_import_ask(struct session *session, const struct link_peer_ask *ask);
/* Handles and answers LINK_PEER_WINDOW. Returns false if the message is invalid. */
bool peer_window_ask(struct session *session, const struct link_peer_ask *ask);
/* Refuses the import of a session that is ending, if it has asked for one. */
void peer_import_refuse(struct session *session);
/* Forgets the request of a session whose worker is lost: no worker waits for the answer, and the
 * next one asks again. */
void peer_import_cancel(struct session *session);
/* Handles LINK_PEER_EXPORTED, the answer of the owner's device. Returns false if it is invalid. */
bool peer_exported(struct device *device, const struct link_message *message);
/* Handles LINK_VAULT_PEER: the session has mapped the memory that it was given, or, with 0 bytes,
 * could not. Returns false if the message is invalid. */
bool peer_import_keep(struct session *session, const struct link_vault *vault);
/* Tells the session's next worker which loans were revoked meanwhile. */
void peer_imports_tell(struct session *session);
/* Ends the loans and imports of a session that has lost its memory. */
void peer_memory_deinit(struct session *session);
/* Sends the pending questions and messages to workers. Called at the end of each round. */
void peer_memory_go_on(struct server *server);
/* Queues all questions and messages again after a restore, now that all workers have reported their
 * sessions (server->restoring). */
void peer_memory_restore(struct server *server);

#endif

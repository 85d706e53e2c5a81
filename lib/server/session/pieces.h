/*
 * pieces.h - puts into the vault the pieces of a session's memory that its worker sends or shares,
 * and removes those that it drops, within the limits on descriptors and on the user.
 */
#ifndef GS_SERVER_PIECES_H
#define GS_SERVER_PIECES_H

#include <stdbool.h>

#include "common/link.h"
#include "server/base/vault.h"

struct server;
struct session;

/* Returns whether keeping the descriptor would leave too few for everything else. Each session
 * needs a pidfd. */
bool pieces_leave_none(const struct server *server, int fd);
/* Returns why the vault does not keep a further piece of the session with that descriptor, or NULL
 * if it does. */
const char *piece_refusal(const struct session *session, int fd);
/* Handles LINK_VAULT_PUT. *fd is the descriptor that came along, or -1; it becomes -1 if the vault
 * keeps it. A piece that the vault cannot keep is noted in the session. Returns false if the
 * message is invalid. */
bool piece_put(struct session *session, const struct link_vault *vault, int *fd);
/* Count one of the user's pieces, for an import that the vault does not have yet, and uncount
 * it. */
void piece_charge(const struct session *session);
void piece_discharge(const struct session *session);
/* Handles LINK_VAULT_SHARE, as piece_put. */
bool piece_share(struct session *session, const struct link_vault_share *share);
/* Handles LINK_VAULT_DROP. The vault may have no descriptor, if it was full when the memory was
 * made. Revokes the loan of the memory. */
void piece_remove(struct session *session, const struct link_vault *vault);
/* Removes all pieces of the session. */
void pieces_remove_all(struct session *session);

#endif

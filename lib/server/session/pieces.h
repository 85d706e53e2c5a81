/*
 * pieces.h - the pieces of a session's memory that the vault keeps: what its worker sends, shares
 * or drops, within what the descriptors and the user's limit allow.
 */
#ifndef GS_SERVER_PIECES_H
#define GS_SERVER_PIECES_H

#include <stdbool.h>

#include "common/link.h"
#include "server/base/vault.h"

struct server;
struct session;

/* Whether keeping the descriptor would leave too few for everything else: each session has a pidfd.
 */
bool pieces_leave_none(const struct server *server, int fd);
/* Why the vault does not keep a further piece of the session's memory by that descriptor, or NULL.
 */
const char *piece_refusal(const struct session *session, int fd);
/* LINK_VAULT_PUT. fd: the descriptor that came along, or -1; one that the vault keeps becomes -1.
 * What the vault cannot keep is noted in the session. false: the message makes no sense. */
bool piece_put(struct session *session, const struct link_vault *vault, int *fd);
/* Counts one of the user's pieces, of an import that the vault does not have yet, or (below) no
 * longer. */
void piece_charge(const struct session *session);
void piece_discharge(const struct session *session);
/* The same for LINK_VAULT_SHARE. */
bool piece_share(struct session *session, const struct link_vault_share *share);
/* LINK_VAULT_DROP. The vault may have no descriptor: it was full when the memory was made. What
 * other devices' sessions have of the memory goes too. */
void piece_remove(struct session *session, const struct link_vault *vault);
/* Removes all pieces of the session. */
void pieces_remove_all(struct session *session);

#endif

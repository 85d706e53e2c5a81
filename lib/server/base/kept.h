/*
 * kept.h - the descriptors that a next supervisor finds by their number.
 *
 * A supervisor that is killed leaves its descriptors open, because its keeper (keeper.h) shares the
 * table of them. Which is which stands in struct server, for all but two kinds, whose owners are on
 * the heap: pieces of sessions' memory, and answers that are owed. These are noted here, in memory
 * that all supervisors of a server have, one after the other.
 */
#ifndef GS_SERVER_KEPT_H
#define GS_SERVER_KEPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "server/base/vault.h"

#define KEPT_MAX (1u << 20) /* descriptors; the kernel's own limit (fs.nr_open) */

enum kept_kind {
    KEPT_NOTHING = 0,
    KEPT_PIECE = 1, /* a piece of a session's memory, in its vault */
    KEPT_REPLY = 2  /* the reply queue of a request that has not been answered */
};

struct kept {
    _Atomic uint32_t kind; /* enum kept_kind; written last */
    uint16_t op;           /* of the request */
    uint16_t reserved;
    uid_t uid;              /* of the asker */
    uint64_t owner;         /* a session's id, or the request's token */
    uint64_t address, size; /* of the piece */
    struct vault_loan loan;
};

struct kept_table {
    uint32_t end; /* nothing is noted from here on */
    struct kept at[KEPT_MAX];
};

/* Has descriptors noted in that table from now on, whose memory is zero or a former supervisor's.
 * Without a table, as in unit tests, nothing is noted. */
void kept_init(struct kept_table *table);
void kept_piece(int fd, uint64_t session_id, const struct vault_entry *entry);
/* Notes the descriptor of a piece of memory that is lent (vault_lend). */
void kept_piece_lent(int fd, const struct vault_loan *loan);
void kept_reply(int fd, uint16_t op, uid_t uid, uint64_t token);
/* Whether the descriptor is noted. */
bool kept_noted(int fd);
/* Whether it is noted as the descriptor at which the request of that token is answered. */
bool kept_noted_reply(int fd, uint64_t token);
/* Forgets a descriptor that is about to be closed. */
void kept_remove(int fd);

#endif

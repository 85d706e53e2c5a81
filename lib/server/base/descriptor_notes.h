/*
 * descriptor_notes.h - the table by which a next supervisor finds what a descriptor is.
 *
 * A supervisor that is killed leaves its descriptors open, because its keeper (keeper.h) shares
 * their table. struct server says what each descriptor is, except for two kinds whose owners are on
 * the heap: pieces of sessions' memory, and replies to requests that are not answered yet. This
 * table has those two kinds. It is in memory that each supervisor of a server passes on to the
 * next.
 */
#ifndef GS_SERVER_DESCRIPTOR_NOTES_H
#define GS_SERVER_DESCRIPTOR_NOTES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "server/base/vault.h"

#define DESCRIPTOR_NOTES_MAX (1u << 20) /* descriptors; the kernel's own limit (fs.nr_open) */

enum descriptor_kind {
    NOTED_NOTHING = 0,
    NOTED_PIECE = 1, /* a piece of a session's memory, in its vault */
    NOTED_REPLY = 2  /* the reply queue of a request that has not been answered */
};

struct descriptor_note {
    _Atomic uint32_t kind; /* enum descriptor_kind; written last */
    uint16_t op;           /* of the request */
    uint16_t reserved;
    uid_t uid;              /* uid of the client */
    uint64_t owner;         /* a session's id, or the request's token */
    uint64_t address, size; /* of the piece */
    struct vault_loan loan;
};

struct descriptor_notes {
    uint32_t end; /* no entry from here on is in use */
    struct descriptor_note at[DESCRIPTOR_NOTES_MAX];
};

/* Sets the table in which descriptors are noted from now on. Its memory is zero or a former
 * supervisor's. Without a table, as in unit tests, nothing is noted. */
void descriptor_notes_init(struct descriptor_notes *table);
void descriptor_note_piece(int fd, uint64_t session_id, const struct vault_entry *entry);
/* Notes the descriptor of a piece of memory that is lent (vault_lend). */
void descriptor_note_lent(int fd, const struct vault_loan *loan);
void descriptor_note_reply(int fd, uint16_t op, uid_t uid, uint64_t token);
/* Returns whether the descriptor is noted. */
bool descriptor_noted(int fd);
/* Returns whether the descriptor is noted as the reply of the request with that token. */
bool descriptor_noted_reply(int fd, uint64_t token);
/* Forgets a descriptor that is about to be closed. */
void descriptor_note_remove(int fd);

#endif

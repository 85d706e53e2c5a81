/*
 * loans.h - loans: memory that a session (the owner) lends to sessions of other devices. A loan is
 * of one piece, from its first import until the owner revokes it, frees it or ends. If the piece is
 * lent again later, that is another loan. So a worker is told one number, however many imports it
 * has.
 *
 * The vault's entries name their loans (base/vault.h), and a next supervisor builds the table from
 * them. A loan without an entry of its owner was revoked.
 *
 * Memory of a revoked loan that importers still map *lingers*: it counts against the owner's user,
 * on the owner's device, until the last import is gone (accounts.h). The supervisor's thread.
 */
#ifndef GS_SERVER_LOANS_H
#define GS_SERVER_LOANS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/link.h"
#include "server/base/vault.h"
#include "server/base/word_queue.h"

struct account;
struct device;
struct server;
struct session;

/* The most imports of one loan: one for each session that a server can have. */
#define LOAN_HOLDERS_MAX LINK_SLOTS_MAX

struct loan {
    struct vault_loan name;
    uint64_t size;
    uint32_t slot;    /* the owner's slot; LINK_SLOT_NONE: the loan was revoked */
    uint32_t holders; /* number of imports, including those that a worker has not mapped yet */
    uint32_t devices; /* bits of the devices whose sessions have, or had, imports */
    struct loan *next;
};

#define LOAN_ROWS 4096u

/* All zero: empty. */
struct loans {
    struct loan *row[LOAN_ROWS]; /* by number */
};

/* The messages about loans that a device's worker has still to get. A bounded number is sent in
 * each round (session/peer_memory.h), so that no user's loans fill the worker's socket. */
struct loan_news {
    struct word_queue words;            /* numbers of revoked loans, and LOAN_LINGERS with a uid */
    uint64_t asks[LINK_SLOTS_MAX / 64]; /* bits of the slots whose sessions' imports the worker
                                           must be asked about */
    uint32_t asks_next;                 /* the slot whose turn is next */
    pid_t worker;                       /* the worker to which all has been sent or queued; 0:
                                           none */
};
#define LOAN_LINGERS (UINT64_C(1) << 63)

/* Returns the loan of that number; NULL: there is none. */
struct loan *loan_find(const struct server *server, uint64_t number);
/* Returns the loan of an entry of the owner's vault, and begins one if there is none. NULL: no
 * memory. */
struct loan *loan_begin(struct session *owner, uint64_t address, uint64_t size);
/* Counts an import on that device. */
void loan_hold(struct loan *loan, const struct device *device);
/* Revokes the loan of the owner's memory at that address, if there is one. */
void loan_take_back(struct session *owner, uint64_t address);
/* Notes that the session gives up a vault entry with this loan, as its owner or as an importer. */
void loan_entry_gone(struct session *session, const struct vault_loan *name);
/* Queues a message to the device's worker of how much of the user's memory lingers there, unless
 * one is queued already. */
void loan_linger_on(struct device *device, struct account *account);
/* Queues a message to the device's worker to revoke all imports of a loan. */
void loan_revoke_on(struct device *device, uint64_t number);

/* Enters the loan of a vault entry, or of an import in progress, into the table. Returns false if
 * there is no memory. */
bool loan_restore(struct session *session, const struct vault_loan *name, uint64_t size);
/* Revokes the loans that no owner has entered. Called once all entries have been restored. */
void loans_restored(struct server *server);

#endif

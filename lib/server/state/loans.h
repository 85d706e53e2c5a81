/*
 * loans.h - loans: memory that a session, the owner, lends to sessions of other devices. A loan is
 * of one piece, from its first import until the owner takes it back, frees it or ends; when the
 * piece is lent anew that is another loan. So a worker is told of one number, however many imports
 * it has.
 *
 * The vault's entries say which loan they are of (base/vault.h), and a next supervisor makes the
 * table from them. A loan whose owner's entry is not there was taken back.
 *
 * What is still mapped then lingers: it counts against the owner's user, on the owner's device,
 * until the last import is gone (accounts.h). The supervisor's thread.
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

/* Imports of one loan: one for each session that a server can have. */
#define LOAN_HOLDERS_MAX LINK_SLOTS_MAX

struct loan {
    struct vault_loan name;
    uint64_t size;
    uint32_t slot;    /* the owner's; LINK_SLOT_NONE: the loan is taken back */
    uint32_t holders; /* imports, also those that their worker has yet to map */
    uint32_t devices; /* as bits: sessions of these have, or had, imports */
    struct loan *next;
};

#define LOAN_ROWS 4096u

/* All zero: empty. */
struct loans {
    struct loan *row[LOAN_ROWS]; /* by number */
};

/* What the worker of a device has to be told of loans, a bounded number of words in each round
 * (session/peer_memory.h): so that no user's loans fill the worker's socket. */
struct loan_news {
    struct word_queue words; /* loans taken back, and LOAN_LINGERS with a user's number */
    uint64_t asks[LINK_SLOTS_MAX / 64]; /* as bits: sessions whose import it is to be asked about */
    uint32_t asks_next;                 /* the slot whose turn is next */
    pid_t worker;                       /* that has been told all; 0: none */
};
#define LOAN_LINGERS (UINT64_C(1) << 63)

/* The loan of that number. NULL: there is none. */
struct loan *loan_find(const struct server *server, uint64_t number);
/* The loan of an entry of the session's vault, begun if there is none. NULL: there is no memory. */
struct loan *loan_begin(struct session *owner, uint64_t address, uint64_t size);
/* Counts an import on that device. */
void loan_hold(struct loan *loan, const struct device *device);
/* Ends the loan of the owner's memory at that address, if there is one. */
void loan_take_back(struct session *owner, uint64_t address);
/* Notes that the session gives up the entry, which may be a loan's or an import's. */
void loan_entry_gone(struct session *session, const struct vault_loan *name);
/* Has the device's worker told how much of the user's memory lingers there, unless that is about to
 * be done. */
void loan_linger_on(struct device *device, struct account *account);
/* Has the device's worker take back all that its sessions have of a loan. */
void loan_revoke_on(struct device *device, uint64_t number);

/* Enters what an entry of the vault, or an import under way, says. false: there is no memory. */
bool loan_restore(struct session *session, const struct vault_loan *name, uint64_t size);
/* Takes back the loans that no owner has entered, once all has been entered. */
void loans_restored(struct server *server);

#endif

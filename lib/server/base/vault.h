/*
 * vault.h - the descriptors of one session's device memory, by address: what outlives a worker.
 * Pure table; the supervisor's thread.
 */
#ifndef GS_SERVER_VAULT_H
#define GS_SERVER_VAULT_H

#include <stdbool.h>
#include <stdint.h>

/* The loan by which sessions of other devices have an entry's memory (state/loans.h), and whose
 * memory it is. All zero: there is none. */
struct vault_loan {
    uint64_t number; /* no other loan has, had or will have this number while the machine runs */
    uint64_t session_id;  /* the owner */
    uint64_t address;     /* in the owner's window */
    uint32_t uid, device; /* the owner's */
};

struct vault_entry {
    uint64_t address, size;
    uint64_t number; /* no other entry has, had or will have this number while the machine runs */
    struct vault_loan loan; /* that the session gives, if it is the owner, or has */
    int fd;
};

/* All zero: empty. */
struct vault {
    uint64_t owner; /* the session's id, for whoever finds the descriptors (kept.h) */
    /* Sorted by address, none overlapping. There may be tens of thousands, of which each one that
     * comes or goes moves others: pointers, since an entry has nine times their size. */
    struct vault_entry **entry;
    uint32_t count, room;
    struct vault_entry *spare; /* for the next one (vault_room); NULL: there is none */
};

enum vault_result { VAULT_OK = 0, VAULT_OVERLAP, VAULT_NO_MEMORY };

/* A number that neither this supervisor nor one before it has given to an entry or a loan. */
uint64_t vault_number(void);
/* Makes room for an entry more, so that the next vault_put finds memory. false: there is none. */
bool vault_room(struct vault *vault);
/* Takes fd over on VAULT_OK only. VAULT_OVERLAP also for an empty or wrapping range. loan: NULL:
 * the entry is of none. */
enum vault_result vault_put(struct vault *vault, uint64_t address, uint64_t size,
                            const struct vault_loan *loan, int fd);
/* Notes by which loan the entry that begins there, which must be one, is lent from now on; NULL: by
 * none. */
void vault_lend(struct vault *vault, uint64_t address, const struct vault_loan *loan);
/* The entry of exactly that range; NULL: there is none. Valid until the vault changes. */
const struct vault_entry *vault_find(const struct vault *vault, uint64_t address, uint64_t size);
/* The same for the entry that begins there. */
const struct vault_entry *vault_at(const struct vault *vault, uint64_t address);
/* The index of the first entry that begins at this address or behind it; count: there is none. */
uint32_t vault_from(const struct vault *vault, uint64_t address);
/* Closes the descriptor of the entry that begins there. false: there is none. */
bool vault_remove(struct vault *vault, uint64_t address);
/* Closes all descriptors and frees the table. */
void vault_deinit(struct vault *vault);

#endif

/*
 * vault.h - the vault of one session: the descriptors of its device memory, by address, which
 * outlive a worker. A pure table; the supervisor's thread.
 */
#ifndef GS_SERVER_VAULT_H
#define GS_SERVER_VAULT_H

#include <stdbool.h>
#include <stdint.h>

/* The loan by which sessions of other devices have an entry's memory (state/loans.h), and its
 * owner. All zero: there is none. */
struct vault_loan {
    uint64_t number; /* no other loan has, had or will have this number while the machine runs */
    uint64_t session_id;  /* the owner */
    uint64_t address;     /* in the owner's window */
    uint32_t uid, device; /* the owner's */
};

struct vault_entry {
    uint64_t address, size;
    uint64_t number; /* no other entry has, had or will have this number while the machine runs */
    struct vault_loan loan; /* the loan that the session gives, if it is the owner, or by which
                               it has the memory */
    int fd;
};

/* All zero: empty. */
struct vault {
    uint64_t owner; /* the session's id, noted with the descriptors (descriptor_notes.h) */
    /* Sorted by address, not overlapping. There may be tens of thousands, and each insertion or
     * removal moves others. So these are pointers: an entry is nine times as large. */
    struct vault_entry **entry;
    uint32_t count, room;
    struct vault_entry *spare; /* memory for the next entry (vault_room); NULL: none */
};

enum vault_result { VAULT_OK = 0, VAULT_OVERLAP, VAULT_NO_MEMORY };

/* Returns a number that neither this supervisor nor a former one has given to an entry or a
 * loan. */
uint64_t vault_number(void);
/* Allocates room for one more entry, so that the next vault_put cannot lack memory. Returns false
 * if there is none. */
bool vault_room(struct vault *vault);
/* Adds an entry. Takes fd over only on VAULT_OK. Returns VAULT_OVERLAP also for an empty or
 * wrapping range. `loan`: NULL for an entry without one. */
enum vault_result vault_put(struct vault *vault, uint64_t address, uint64_t size,
                            const struct vault_loan *loan, int fd);
/* Sets the loan by which the entry that begins at the address is lent; NULL: none. The entry
 * exists. */
void vault_lend(struct vault *vault, uint64_t address, const struct vault_loan *loan);
/* Returns the entry of exactly that range; NULL: there is none. Valid until the vault changes. */
const struct vault_entry *vault_find(const struct vault *vault, uint64_t address, uint64_t size);
/* Returns the entry that begins at the address, likewise. */
const struct vault_entry *vault_at(const struct vault *vault, uint64_t address);
/* Returns the index of the first entry that begins at this address or behind it; count: there is
 * none. */
uint32_t vault_from(const struct vault *vault, uint64_t address);
/* Removes the entry that begins at the address and closes its descriptor. Returns false if there is
 * none. */
bool vault_remove(struct vault *vault, uint64_t address);
/* Closes all descriptors and frees the table. */
void vault_deinit(struct vault *vault);

#endif

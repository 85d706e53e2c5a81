/*
 * vault.h - the descriptors of one session's device memory, by address: what outlives a worker.
 * Pure table; the supervisor's thread.
 */
#ifndef GS_SERVER_VAULT_H
#define GS_SERVER_VAULT_H

#include <stdbool.h>
#include <stdint.h>

/* Where memory comes from that a session of another device lends. */
struct vault_origin {
    uint64_t session_id; /* the lender; 0: the memory was taken back */
    uint64_t address;    /* in the lender's window */
    uint64_t number;     /* by which the borrower's worker knows it; 0: the memory is not lent */
};

struct vault_entry {
    uint64_t address, size;
    uint64_t number; /* no other entry has, had, or will have it while the machine runs */
    struct vault_origin origin;
    int fd;
};

/* All zero: empty. */
struct vault {
    uint64_t owner;            /* the session's id, for whoever finds the descriptors (kept.h) */
    struct vault_entry *entry; /* sorted by address, none overlapping */
    uint32_t count, room;
    uint32_t borrowed; /* entries with an origin */
};

enum vault_result { VAULT_OK = 0, VAULT_OVERLAP, VAULT_NO_MEMORY };

/* Takes fd over on VAULT_OK only. VAULT_OVERLAP also for an empty or wrapping range. origin: NULL:
 * the memory is of the session's own device. */
enum vault_result vault_put(struct vault *vault, uint64_t address, uint64_t size,
                            const struct vault_origin *origin, int fd);
/* The lender has taken the entry's memory back. */
void vault_taken_back(struct vault_entry *entry);
/* The entry of exactly that range; NULL: there is none. Valid until the vault changes. */
const struct vault_entry *vault_find(const struct vault *vault, uint64_t address, uint64_t size);
/* The index of the first entry that begins there or behind; count: there is none. */
uint32_t vault_from(const struct vault *vault, uint64_t address);
/* Closes the descriptor of the entry that begins there. false: there is none. */
bool vault_drop(struct vault *vault, uint64_t address);
/* Closes all. */
void vault_deinit(struct vault *vault);

#endif

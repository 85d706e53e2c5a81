/*
 * export_table.h - the exports of all sessions of the device, by their handles. A handle consists
 * of random bits and, in its last word, the device's number; it does not depend on the table, so it
 * stays valid in the next worker. Its first word chooses the table's row, and the other words are
 * what only a holder of the handle can know. Service threads.
 */
#ifndef GS_WORKER_MEMORY_EXPORT_TABLE_H
#define GS_WORKER_MEMORY_EXPORT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct physical;
struct session;

#define EXPORT_WORDS 4u

struct mem_export {
    struct mem_export *next;   /* the next export of the same chunk */
    struct mem_export *in_row; /* the next export in the same row of the table */
    uint64_t handle[EXPORT_WORDS];
    const struct session *owner;
    struct physical *memory;
    uint64_t address;  /* of the exported chunk in its owner's window */
    uint64_t size;     /* of the exported allocation */
    uint64_t receiver; /* the session that may import it; 0: any session of the owner's user */
};

/* A thread that holds the lock and finds an export knows that the export's memory lives. */
void exports_lock(void);
void exports_unlock(void);

/* The caller of the next three functions holds the lock. */
void exports_add(struct mem_export *made);
void exports_remove(struct mem_export *export);
/* Returns the export with this handle; NULL: there is none. */
const struct mem_export *exports_find(const uint64_t handle[EXPORT_WORDS]);

#endif

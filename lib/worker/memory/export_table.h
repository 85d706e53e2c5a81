/*
 * export_table.h - the exports of all sessions of the device, by their handles. A handle is random
 * throughout, so that it is the same in the next worker: the first word says where the table has
 * the export, and the others are what only a holder of the handle can know. Service threads.
 */
#ifndef GS_WORKER_MEMORY_EXPORT_TABLE_H
#define GS_WORKER_MEMORY_EXPORT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct physical;
struct session;

#define EXPORT_WORDS 4u

struct mem_export {
    struct mem_export *next;   /* of the same chunk */
    struct mem_export *in_row; /* of the same row of the table */
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

/* The next three are called under the lock. */
void exports_add(struct mem_export *made);
void exports_remove(struct mem_export *export);
/* NULL: there is none. */
const struct mem_export *exports_find(const uint64_t handle[EXPORT_WORDS]);

#endif

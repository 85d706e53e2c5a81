/*
 * handle.h - handles are values: what they name is looked up, never followed.
 *
 *   63..60 kind   59..50 session index   49..48 zero   47..32 slot   31..0 generation
 *
 * A generation is drawn from one counter of the process for every object of every kind, so a value
 * is not given twice (within 2^32 objects), whichever session or slot is used again.
 *
 * A table's lookup takes no lock. Who removes an object does it in two steps: handle_retire makes
 * every later lookup fail; then, when no thread can still be using what it looked up before,
 * handle_release lets the slot be used again. session.h says how long that is for each kind.
 */
#ifndef GS_CLIENT_HANDLE_H
#define GS_CLIENT_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum handle_kind {
    HANDLE_SESSION = 1,
    HANDLE_STREAM = 2,
    HANDLE_EVENT = 3,
    HANDLE_MODULE = 4,
    HANDLE_KERNEL = 5,
    HANDLE_GRAPH = 6
};

#define HANDLE_SESSIONS 1024u /* sessions a process */

struct handle {
    enum handle_kind kind;
    uint32_t session;
    uint32_t slot;
    uint32_t generation;
};

static inline uint64_t handle_encode(enum handle_kind kind, uint32_t session, uint32_t slot,
                                     uint32_t generation)
{
    return (uint64_t)kind << 60 | (uint64_t)session << 50 | (uint64_t)slot << 32 | generation;
}

/* Any value decodes to something; a wrong one finds nothing later. */
static inline struct handle handle_decode(const void *value)
{
    uint64_t v = (uint64_t)(uintptr_t)value;

    return (struct handle){
        .kind = (enum handle_kind)(v >> 60),
        .session = (uint32_t)(v >> 50) & (HANDLE_SESSIONS - 1),
        .slot = (uint32_t)(v >> 32) & 0xFFFFu,
        .generation = v >> 48 & 3 ? 0 : (uint32_t)v,
    };
}

/* The next generation: never 0. */
uint32_t handle_generation(void);
/* The last generation that was given. */
uint32_t handle_generation_last(void);

#define HANDLE_CHUNK 256u

struct handle_entry {
    _Atomic uint32_t generation; /* 0: no object */
    uint32_t next_free;          /* slot + 1; 0: none. Under the owner's lock. */
    void *_Atomic object;
};

/* Slots are handed out by the owner under its lock; lookups run beside that. */
struct handle_table {
    uint32_t capacity; /* at most 65536 */
    uint32_t made;     /* slots ever used */
    uint32_t first_free;
    struct handle_entry *_Atomic chunk[65536u / HANDLE_CHUNK];
};

void handle_table_init(struct handle_table *table, uint32_t capacity);
/* Frees the table's memory, not the objects. */
void handle_table_deinit(struct handle_table *table);

enum handle_insert_result { HANDLE_INSERTED, HANDLE_FULL, HANDLE_NO_MEMORY };
enum handle_insert_result handle_insert(struct handle_table *table, void *object, uint32_t *slot,
                                        uint32_t *generation);
/* NULL when slot and generation name no live object. */
void *handle_lookup(struct handle_table *table, uint32_t slot, uint32_t generation);
/* False when it was not live: somebody else retired it. */
bool handle_retire(struct handle_table *table, uint32_t slot, uint32_t generation);
void handle_release(struct handle_table *table, uint32_t slot);
/* The object in a slot, whatever its generation; NULL: none, or slot >= made. For the owner. */
void *handle_at(struct handle_table *table, uint32_t slot);

#endif

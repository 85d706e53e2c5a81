/*
 * handle.h - handles are values: a table lookup finds the object, no pointer is followed.
 *
 *   63..60 kind   59..50 session index   49..48 zero   47..32 slot   31..0 generation
 *
 * Objects of every kind take their generation from one counter of the process, so no handle value
 * is used twice within 2^32 objects, even if a session's or an object's slot is used again.
 *
 * A table's lookup takes no lock. An object is removed in two steps: handle_retire makes every
 * later lookup fail; handle_release frees the slot once no thread can still use an object that it
 * looked up before. session.h says for each kind when that is.
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
    HANDLE_GRAPH = 6,
    HANDLE_ARRAY = 7,
    HANDLE_KINDS = 8
};

#define HANDLE_SESSIONS 1024u /* sessions of a process */

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

/* Decodes any value. The lookup of an invalid handle fails later. */
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

/* Takes and returns the next generation, never 0. */
uint32_t handle_generation(void);
/* Returns the last generation taken. */
uint32_t handle_generation_last(void);

#define HANDLE_CHUNK 256u

struct handle_entry {
    _Atomic uint32_t generation; /* 0: no object */
    uint32_t next_free;          /* slot + 1; 0: none. Under the owner's lock. */
    void *_Atomic object;
};

/* The owner inserts and releases under its lock; lookups run concurrently. */
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
/* Returns the object; NULL if slot and generation name no live object. */
void *handle_lookup(struct handle_table *table, uint32_t slot, uint32_t generation);
/* Makes later lookups fail. Returns false if another thread has retired the object already. */
bool handle_retire(struct handle_table *table, uint32_t slot, uint32_t generation);
void handle_release(struct handle_table *table, uint32_t slot);
/* Returns the object in a slot, of any generation; NULL if there is none. Under the owner's
 * lock. */
void *handle_at(struct handle_table *table, uint32_t slot);

#endif

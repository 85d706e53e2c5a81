/*
 * journal.h - the journal of a session: its control state, kept where it outlives the worker: what
 * the session was given and has made (chunks, allocations, modules, kernels, streams, graphs, host
 * blocks), and how far its streams have been consumed. Results of the tenant's computations are not
 * in it: they lie in device memory, whose descriptors the supervisor's vault has.
 *
 * A journal is a memfd. The worker writes it, the supervisor holds its descriptor and never reads
 * it, and the next worker restores the session from it (session/resume.c). Each change becomes
 * valid by one store, so that the worker can be lost at any moment. No tenant can reach a journal.
 *
 * A request and its change count together: the answer is noted first, with the key of the entry
 * that the request makes or removes (struct journal_answer), then the entry. If the worker is lost
 * in between, the next one settles this: it drops the answer, so that the request is made again, or
 * removes the entry. An exception are requests whose answer has a payload or a text, for which a
 * journal has no room (kernel_get, a module load with a message): only their entry is noted. Such a
 * request, made again, leaves a kernel or a module whose number nobody has, until its module or the
 * session ends.
 *
 * A journal that lacks something is incomplete: the session goes on, and ends with its worker. All
 * functions take NULL for a session without a journal.
 *
 * The journal belongs to the session's job in progress; the positions belong to the session's lane.
 */
#ifndef GS_WORKER_JOURNAL_JOURNAL_H
#define GS_WORKER_JOURNAL_JOURNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire.h"

struct journal;

/* The kinds of entries. No two entries of a kind have the same key. */
enum journal_kind {
    JOURNAL_CHUNK = 1,      /* key: address. value: size, journal_chunk, piece's number, since */
    JOURNAL_ALLOCATION = 2, /* key: address. value: bytes that the tenant asked for */
    JOURNAL_HOST = 3,       /* key: number. value: id, bytes, host_note's, serial */
    JOURNAL_PRINT = 4,      /* key: 0. value: id */
    JOURNAL_MODULE = 5,     /* key: number. value: address of its variables. bytes: the image */
    JOURNAL_VARIABLE = 6,   /* key: address. value: size, module */
    JOURNAL_KERNEL = 7,     /* key: number. value: module, serial. bytes: the name */
    JOURNAL_GRAPH = 8,      /* key: number. value: serial. bytes: the records */
    JOURNAL_HEAP = 9,       /* key: 0. value: address of the kernels' heap, or 0; size */
    JOURNAL_EXPORT = 10,    /* key: first word of the handle. value: address, size, receiver. bytes:
                               the handle's other words */
    JOURNAL_STREAM = 11,    /* only in an answer: the state of a stream, see journal_stream */
    JOURNAL_TEXTURE = 12,   /* key: row. value: number. bytes: req_texture */
    JOURNAL_TEXTURES = 13,  /* key: 0. value: how many the session has ever made */
    JOURNAL_STACK = 14,     /* key: 0. value: bytes of stack for its kernels */
    JOURNAL_PEER = 15,      /* key: base of a peer window. value: its size */
    JOURNAL_TENSOR_MAPS = 16, /* key: 0. value: the hashes' key, two words; generation */
    JOURNAL_TENSOR_MAP = 17   /* key: a map's hash. value: generation */
};

/* Flags of a chunk. An import has its number in the upper half. */
enum journal_chunk {
    JOURNAL_CHUNK_SMALL = 1,   /* it holds small allocations */
    JOURNAL_CHUNK_LENT = 2,    /* it was exported: others may hold its memory */
    JOURNAL_CHUNK_IMPORTED = 4 /* its memory is another session's */
};

#define JOURNAL_VALUES 4

struct journal_entry {
    uint32_t kind;  /* an enum journal_kind; 0: no longer valid */
    uint32_t units; /* size of the whole entry, in units of 64 bytes */
    uint64_t key;
    uint64_t value[JOURNAL_VALUES];
    uint64_t size; /* of `bytes` */
    unsigned char bytes[];
};

struct journal_stream {
    uint32_t open;
    uint32_t own_qos; /* its tenant gave it the class and priority below */
    uint32_t cls;
    int32_t priority;
};

enum journal_change {
    JOURNAL_KEEPS = 0,
    JOURNAL_MAKES = 1,  /* the answer counts once the entry is there */
    JOURNAL_REMOVES = 2 /* the entry is to be removed */
};

/* The answer to the last request. */
struct journal_answer {
    uint32_t serial; /* the request's serial in seg_request; 0: none */
    int32_t status;
    uint64_t ret[4];
    uint32_t change; /* an enum journal_change, about the entry of this kind and key */
    uint32_t kind;
    uint64_t key;
};

/* Makes an empty journal for that session, of that user. NULL: there is no memory or no descriptor
 * for it, which was logged. */
struct journal *journal_new(uint64_t session, uint32_t uid);
/* Opens the journal that a former worker has left. Takes the descriptor over. NULL: it cannot be
 * read. A journal that is late (journal_late) is made incomplete. */
struct journal *journal_open(int descriptor, uint64_t session, uint32_t uid, uint64_t until);
/* Returns whether the time `until` has passed and the former worker's journal has so many entries
 * that restoring them would keep all other sessions waiting. */
bool journal_late(const struct journal *journal, uint64_t until);
#define JOURNAL_LATE "it has so much small memory that all others would wait too long"
void journal_free(struct journal *journal);
/* Returns the descriptor of the journal's file; -1: none. */
int journal_descriptor(const struct journal *journal);

/* Adds an entry, in place of one with the same kind and key. On failure the journal is incomplete.
 */
void journal_put(struct journal *journal, enum journal_kind kind, uint64_t key,
                 const uint64_t value[JOURNAL_VALUES], const void *bytes, uint64_t size);
/* Removes an entry, if it is there. When many were removed, compacts the log, which takes longer.
 */
void journal_remove(struct journal *journal, enum journal_kind kind, uint64_t key);
/* Removes the entries for which `gone` returns true, in one pass. `gone` may look up other entries,
 * of which some may be removed already. */
typedef bool journal_test(const struct journal *journal, const struct journal_entry *entry);
void journal_sweep(struct journal *journal, journal_test *gone);
/* Returns the entry that was added after `entry` (NULL: the first one); NULL: there is none. */
const struct journal_entry *journal_next(const struct journal *journal,
                                         const struct journal_entry *entry);

/* Returns the entry of a kind with a key; NULL: there is none. */
const struct journal_entry *journal_find(const struct journal *journal, enum journal_kind kind,
                                         uint64_t key);

/* Notes whether an import of the session has been revoked: if so, the next worker must not map its
 * memory. Any thread, since another session revokes it. */
void journal_revoked_set(struct journal *journal, uint32_t import, bool revoked);
bool journal_revoked(const struct journal *journal, uint32_t import);

/* Calls `look` for each entry of a running worker's journal, without the entry's bytes. That worker
 * may write the journal meanwhile, so an entry may be nonsense, and entries may be missed. The
 * descriptor stays the caller's. */
void journal_glance(int descriptor, void (*look)(const struct journal_entry *entry, void *argument),
                    void *argument);

/* Marks the journal incomplete: the session cannot outlive its worker. The first reason is kept and
 * logged. */
void journal_set_incomplete(struct journal *journal, const char *why);
/* Returns why the session cannot outlive its worker; NULL: it can. */
const char *journal_incomplete(const struct journal *journal);

/* Note the state of a stream, and read it. */
void journal_stream(struct journal *journal, uint32_t index, const struct journal_stream *stream);
void journal_stream_get(const struct journal *journal, uint32_t index,
                        struct journal_stream *stream);
/* Notes an answer. If the same answer is noted already, with its change, the change is cleared by
 * one store, and the noted answer stays valid throughout. */
void journal_answer(struct journal *journal, const struct journal_answer *answer);
void journal_answer_get(const struct journal *journal, struct journal_answer *answer);

/* ---- Positions ------------------------------------------------------------------------------- */

struct journal_positions {
    /* For each stream, the ring position before which records may have been given to the device. */
    _Atomic uint64_t consumed[SEG_STREAMS];
    _Atomic uint64_t launches[SEG_STREAMS]; /* launches before that, since the stream was made */
};

struct journal_positions *journal_positions(struct journal *journal);

#endif

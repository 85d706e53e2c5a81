/*
 * journal.h - a session's control state, kept where it outlives the worker: what the session has
 * been given and has made (chunks, allocations, modules, kernels, streams, graphs, host blocks),
 * and how far its streams have been consumed. What the tenant computes is not in it: that lies in
 * device memory, whose descriptors the supervisor's vault has.
 *
 * A journal is a file in memory (memfd). The worker writes it, the supervisor holds its descriptor
 * and never reads it, and the next worker takes the session up from it (session/resume.c). A change
 * becomes valid by one store, so that a worker can be lost at any moment. Nothing of a tenant can
 * reach it.
 *
 * A request and its change are one: the answer is noted first, with the entry that the request
 * makes or removes (struct journal_answer), then the entry. Where the worker is lost in between,
 * the next one drops the answer, so that the request is made anew, or the entry. The exception is a
 * request whose answer has a payload or a text, for which a journal has no room (kernel_get, a
 * module load with a message): only its entry is noted. Made anew, it leaves a kernel or a module
 * that nobody has the number of, until its module or the session goes.
 *
 * A journal that cannot hold everything is incomplete: the session goes on, and ends with its
 * worker. All functions take NULL for a session without a journal.
 *
 * The journal belongs to the session's job in progress; positions, to the lane of the session.
 */
#ifndef GS_WORKER_JOURNAL_JOURNAL_H
#define GS_WORKER_JOURNAL_JOURNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire.h"

struct journal;

/* The kinds of entries; a key is unique among the entries of its kind. */
enum journal_kind {
    JOURNAL_CHUNK = 1,      /* key: address. value: size, journal_chunk, its memory, since when */
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
    JOURNAL_STREAM = 11,    /* no entry, only in an answer: a stream's note, see journal_stream */
    JOURNAL_TEXTURE = 12,   /* key: row. value: number. bytes: req_texture */
    JOURNAL_TEXTURES = 13,  /* key: 0. value: how many the session has made, all told */
    JOURNAL_STACK = 14,     /* key: 0. value: bytes of stack that its kernels have */
    JOURNAL_PEER = 15,      /* key: where a window of another device begins. value: its size */
    JOURNAL_TENSOR_MAPS = 16, /* key: 0. value: the key of hashes, two words; generation */
    JOURNAL_TENSOR_MAP = 17   /* key: a map's hash. value: generation */
};

/* What a chunk is. An import has its number in the upper half. */
enum journal_chunk {
    JOURNAL_CHUNK_SMALL = 1,   /* it holds small allocations */
    JOURNAL_CHUNK_LENT = 2,    /* it has been exported: others may hold its memory */
    JOURNAL_CHUNK_IMPORTED = 4 /* its memory is another session's */
};

#define JOURNAL_VALUES 4

struct journal_entry {
    uint32_t kind;  /* of enum journal_kind; 0: no longer valid */
    uint32_t units; /* JOURNAL_UNIT bytes each, of the whole entry */
    uint64_t key;
    uint64_t value[JOURNAL_VALUES];
    uint64_t size; /* of what follows */
    unsigned char bytes[];
};

struct journal_stream {
    uint32_t open;
    uint32_t own_qos; /* its tenant gave it a class and a priority, the next two */
    uint32_t cls;
    int32_t priority;
};

enum journal_change {
    JOURNAL_KEEPS = 0,
    JOURNAL_MAKES = 1,  /* the answer counts once the entry is there */
    JOURNAL_REMOVES = 2 /* the entry counts no more */
};

/* The last request that was answered. */
struct journal_answer {
    uint32_t serial; /* seg_request's; 0: none */
    int32_t status;
    uint64_t ret[4];
    uint32_t change; /* enum journal_change, of the entry with this kind and key */
    uint32_t kind;
    uint64_t key;
};

/* An empty journal of that session, of that user. NULL: there is no memory or no descriptor for it,
 * which the log has been told. */
struct journal *journal_new(uint64_t session, uint32_t uid);
/* The journal that another worker has left. Takes the descriptor over. NULL: it cannot be read.
 * Incomplete: it is late. */
struct journal *journal_open(int descriptor, uint64_t session, uint32_t uid, uint64_t until);
/* Whether that time has passed, and the journal that another worker has left has so many entries
 * that taking them up would keep all others waiting. */
bool journal_late(const struct journal *journal, uint64_t until);
#define JOURNAL_LATE "it has so much small memory that all others would wait too long"
void journal_free(struct journal *journal);
/* The descriptor of the journal's file; -1: none. */
int journal_descriptor(const struct journal *journal);

/* Notes an entry, in place of one with the same kind and key. If it fails, the journal is
 * incomplete. */
void journal_put(struct journal *journal, enum journal_kind kind, uint64_t key,
                 const uint64_t value[JOURNAL_VALUES], const void *bytes, uint64_t size);
/* Removes an entry, if it is there. When many have been removed, it compacts the log, which takes
 * longer. */
void journal_remove(struct journal *journal, enum journal_kind kind, uint64_t key);
/* Removes the entries for which `gone` returns true, in one pass. `gone` may look other entries up,
 * some of which may be removed already. */
typedef bool journal_test(const struct journal *journal, const struct journal_entry *entry);
void journal_sweep(struct journal *journal, journal_test *gone);
/* The entry that was noted after `entry` (NULL: the first one); NULL: there is none. */
const struct journal_entry *journal_next(const struct journal *journal,
                                         const struct journal_entry *entry);

/* The entry of a kind with a key; NULL: there is none. */
const struct journal_entry *journal_find(const struct journal *journal, enum journal_kind kind,
                                         uint64_t key);

/* Notes whether an import of the session has been revoked: then the next worker must not map the
 * memory again. Any thread, since another session revokes it. */
void journal_revoked_set(struct journal *journal, uint32_t import, bool revoked);
bool journal_revoked(const struct journal *journal, uint32_t import);

/* Looks at the entries of another worker's journal, which that worker may write meanwhile: an entry
 * may be nonsense, and none may be missing for long. Their bytes are not read. Leaves the
 * descriptor to the caller. */
void journal_glance(int descriptor, void (*look)(const struct journal_entry *entry, void *argument),
                    void *argument);

/* From now on the session cannot outlive its worker. The first reason counts, and is logged. */
void journal_set_incomplete(struct journal *journal, const char *why);
/* Why it cannot; NULL: it can. */
const char *journal_incomplete(const struct journal *journal);

/* Notes the state of a stream, and reads it. */
void journal_stream(struct journal *journal, uint32_t index, const struct journal_stream *stream);
void journal_stream_get(const struct journal *journal, uint32_t index,
                        struct journal_stream *stream);
/* Notes an answer. One that is there with its change already loses the change by one store, and is
 * never void meanwhile. */
void journal_answer(struct journal *journal, const struct journal_answer *answer);
void journal_answer_get(const struct journal *journal, struct journal_answer *answer);

/* ---- Positions ------------------------------------------------------------------------------- */

struct journal_positions {
    /* Ring positions before which records may have been given to the device. */
    _Atomic uint64_t consumed[SEG_STREAMS];
    _Atomic uint64_t launches[SEG_STREAMS]; /* before them, since the stream was made */
};

struct journal_positions *journal_positions(struct journal *journal);

#endif

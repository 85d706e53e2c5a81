/*
 * journal.c - see journal.h.
 *
 * The file is a header and a log of entries, in units of 64 bytes from the log's beginning. Entries
 * are appended, and become valid once the header's extent includes them; a removed entry is marked
 * so. When a third of the log is removed entries, the valid ones are copied behind the log, or to
 * the file's beginning before it, and one store of the extent makes the copy the log. The file's
 * memory outside of the log is freed: a session is charged for what its journal contains, not for
 * the file.
 */
#include "worker/journal/journal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log_allowance.h"
#include "common/log_event.h"
#include "common/util.h"

#define UNIT           64u
#define PAGE           UINT64_C(4096)
#define MAGIC          UINT64_C(0x34306c6e72756a67) /* "gjurnl04" */
#define HEADER         4096u                        /* bytes of the file, before the log */
#define FIRST_BYTES    12288u                       /* of a new log */
#define BYTES_MAX      (UINT64_C(1) << 30)
#define COMPACT_UNITS  1024u /* with fewer units of removed entries, the log is not compacted */
/* The most entries: to restore two million takes a second or two, in which all other sessions wait.
 */
#define ENTRIES_MAX    (1u << 21)
#define ENTRIES_PROMPT 4096u /* fewer are restored in some milliseconds */

struct header {
    uint64_t magic;
    /* The log's first unit in the lower half, the unit after its last in the upper half. */
    _Atomic uint64_t extent;
    _Atomic uint32_t incomplete;
    uint32_t reserved;
    char why[104];
    struct journal_answer answer;
    struct journal_stream streams[SEG_STREAMS];
    struct journal_positions positions;
    _Atomic uint64_t revoked[SEG_IMPORTS / 64]; /* a bit for each import */
};
static_assert(sizeof(struct header) <= HEADER, "the log lies behind the header");

struct journal {
    int descriptor;
    uint32_t uid;          /* the session's user, for log messages */
    uint64_t session;      /* the session's number, for log messages */
    struct header *header; /* mapped by itself: lanes write positions while the log grows */
    unsigned char *log;
    uint64_t bytes;   /* size of the log's mapping */
    uint64_t dropped; /* units of removed entries in the log */
    uint64_t entries; /* valid entries */
    /* The index: a hash table with open addressing; its capacity is a power of two. A slot is 1 +
     * the unit of an entry, or 0: free. The slot of a removed entry stays, so that a search goes on
     * past it. */
    uint32_t *slots;
    uint32_t capacity, used;
};

static uint64_t extent_of(uint64_t begin, uint64_t end)
{
    return begin | end << 32;
}

static uint64_t log_begin(const struct journal *journal)
{
    return atomic_load_explicit(&journal->header->extent, memory_order_acquire) & UINT32_MAX;
}

static uint64_t log_end(const struct journal *journal)
{
    return atomic_load_explicit(&journal->header->extent, memory_order_acquire) >> 32;
}

static struct journal_entry *entry_at(const struct journal *journal, uint64_t unit)
{
    return (void *)(journal->log + unit * UNIT);
}

static uint64_t unit_of(const struct journal *journal, const struct journal_entry *entry)
{
    return (uint64_t)((const unsigned char *)entry - journal->log) / UNIT;
}

/* ---- The file -------------------------------------------------------------------------------- */

/* Maps the header, and `bytes` of log. */
static bool file_map(struct journal *journal, uint64_t bytes)
{
    void *header = mmap(NULL, HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, journal->descriptor, 0);
    void *log = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, journal->descriptor, HEADER);

    journal->header = header == MAP_FAILED ? NULL : header;
    journal->log = log == MAP_FAILED ? NULL : log;
    journal->bytes = bytes;
    return journal->header && journal->log;
}

/* Allocates memory for `bytes` of log from `from` on. It is allocated beforehand: a page that is
 * missing later would end the worker by SIGBUS. */
static bool log_allocate(const struct journal *journal, uint64_t from, uint64_t bytes)
{
    return !bytes || !posix_fallocate(journal->descriptor, (off_t)(HEADER + from), (off_t)bytes);
}

/* Makes room for `bytes` of log, by steps of a quarter of its size. Nobody is charged for the room.
 */
static bool log_grow(struct journal *journal, uint64_t bytes)
{
    uint64_t wanted = journal->bytes;
    void *at;

    while (wanted < bytes)
        wanted += round_up(wanted / 4, PAGE);
    if (wanted == journal->bytes)
        return true;
    wanted = wanted > BYTES_MAX ? BYTES_MAX : wanted;
    if (bytes > wanted || !log_allocate(journal, journal->bytes, wanted - journal->bytes))
        return false;
    at = mremap(journal->log, journal->bytes, wanted, MREMAP_MAYMOVE);
    if (at == MAP_FAILED)
        return false;
    journal->log = at;
    journal->bytes = wanted;
    return true;
}

/* Frees the file's memory that the log does not use: before its beginning and behind its end. */
static void log_trim(struct journal *journal, uint64_t begin, uint64_t end)
{
    const uint64_t before = begin * UNIT / PAGE * PAGE, used = end * UNIT;
    uint64_t bytes = round_up(used + used / 4, PAGE);

    bytes = bytes < FIRST_BYTES ? FIRST_BYTES : bytes;
    if (before)
        fallocate(journal->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, HEADER,
                  (off_t)before);
    if (bytes >= journal->bytes ||
        mremap(journal->log, journal->bytes, bytes, 0) != (void *)journal->log)
        return;
    journal->bytes = bytes;
    if (ftruncate(journal->descriptor, (off_t)(HEADER + bytes)))
        return; /* the file keeps the memory */
}

/* Limits the log's messages, so that a program that attaches again and again does not fill the log.
 */
static struct log_allowance allowance = LOG_ALLOWANCE(64, 10000000000u);

static void incomplete_log(uint64_t session, uint32_t uid, const char *why)
{
    struct log_event event = log_event_begin("journal-incomplete");

    if (!log_allowance_take(&allowance, uid))
        return;
    log_event_number(&event, "session", session);
    log_event_user(&event, "user", uid);
    log_event_text(&event, "reason", why);
    log_event_write(&event, LOG_LEVEL_INFO);
}

/* Makes a journal without mappings, which takes the descriptor over. NULL: there is no memory. */
static struct journal *journal_of(int descriptor, uint64_t session, uint32_t uid)
{
    struct journal *journal = descriptor < 0 ? NULL : calloc(1, sizeof(*journal));

    if (journal)
        *journal = (struct journal){.descriptor = descriptor, .session = session, .uid = uid};
    else if (descriptor >= 0)
        close(descriptor);
    return journal;
}

struct journal *journal_new(uint64_t session, uint32_t uid)
{
    struct journal *journal = journal_of(memfd_create("gshare-journal", MFD_CLOEXEC), session, uid);

    if (journal && (posix_fallocate(journal->descriptor, 0, HEADER + FIRST_BYTES) ||
                    !file_map(journal, FIRST_BYTES))) {
        journal_free(journal);
        journal = NULL;
    }
    if (journal)
        journal->header->magic = MAGIC;
    else
        incomplete_log(session, uid, "no memory or descriptor for its journal");
    return journal;
}

void journal_free(struct journal *journal)
{
    if (!journal)
        return;
    if (journal->header)
        munmap(journal->header, HEADER);
    if (journal->log)
        munmap(journal->log, journal->bytes);
    close(journal->descriptor);
    free(journal->slots);
    free(journal);
}

int journal_descriptor(const struct journal *journal)
{
    return journal ? journal->descriptor : -1;
}

/* ---- The index ------------------------------------------------------------------------------- */

static uint64_t hash_of(uint32_t kind, uint64_t key)
{
    uint64_t x = (key ^ (uint64_t)kind << 56) * UINT64_C(0x9e3779b97f4a7c15);

    return x ^ x >> 32;
}

/* Returns the slot of the entry, or the free slot where it would be; some slots are always free. */
static uint32_t *slot_of(const struct journal *journal, uint32_t kind, uint64_t key)
{
    uint32_t at = (uint32_t)hash_of(kind, key) & (journal->capacity - 1);

    while (journal->slots[at]) {
        const struct journal_entry *entry = entry_at(journal, journal->slots[at] - 1);
        if (entry->kind == kind && entry->key == key)
            break;
        at = (at + 1) & (journal->capacity - 1);
    }
    return &journal->slots[at];
}

static void entry_remove(struct journal *journal, uint32_t slot)
{
    struct journal_entry *entry;

    if (!slot)
        return;
    entry = entry_at(journal, slot - 1);
    journal->dropped += entry->units;
    journal->entries--;
    *(volatile uint32_t *)&entry->kind = 0;
}

/* Makes a new index of the entries in the log, with room for more. If two entries have the same
 * key, a worker was lost between adding the second and removing the first, and the first is removed
 * now. False: there is no memory, or there are too many entries. */
static bool index_make(struct journal *journal)
{
    uint32_t capacity = 64;

    if (journal->entries > ENTRIES_MAX)
        return false;
    while (capacity < 4 * journal->entries)
        capacity *= 2;
    uint32_t *slots = calloc(capacity, sizeof(*slots));
    if (!slots)
        return false;
    free(journal->slots);
    journal->slots = slots;
    journal->capacity = capacity;
    journal->used = (uint32_t)journal->entries;
    for (const struct journal_entry *e = NULL; (e = journal_next(journal, e));) {
        uint32_t *slot = slot_of(journal, e->kind, e->key), former = *slot;
        *slot = (uint32_t)unit_of(journal, e) + 1;
        entry_remove(journal, former);
    }
    return true;
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* Returns the first valid entry from the unit on; NULL: there is none. */
static struct journal_entry *entry_valid(const struct journal *journal, uint64_t unit)
{
    while (unit < log_end(journal) && !entry_at(journal, unit)->kind)
        unit += entry_at(journal, unit)->units;
    return unit < log_end(journal) ? entry_at(journal, unit) : NULL;
}

const struct journal_entry *journal_next(const struct journal *journal,
                                         const struct journal_entry *entry)
{
    if (!journal)
        return NULL;
    return entry_valid(journal,
                       entry ? unit_of(journal, entry) + entry->units : log_begin(journal));
}

/* Compacts the log: copies the valid entries elsewhere in the file, and makes the copy the log. */
static void log_compact(struct journal *journal)
{
    const uint64_t begin = log_begin(journal), end = log_end(journal);
    const uint64_t live = end - begin - journal->dropped, first = begin >= live ? 0 : end;
    uint64_t to = first;

    if (!log_grow(journal, (first + live) * UNIT) ||
        (!first && !log_allocate(journal, 0, live * UNIT)))
        return;
    for (const struct journal_entry *e = NULL; (e = journal_next(journal, e));) {
        memcpy(entry_at(journal, to), e, (size_t)e->units * UNIT);
        to += e->units;
    }
    /* release: the copy is complete before it becomes the log. */
    atomic_store_explicit(&journal->header->extent, extent_of(first, to), memory_order_release);
    journal->dropped = 0;
    log_trim(journal, first, to);
    if (!index_make(journal))
        journal_set_incomplete(journal, "no memory for the index of its journal");
}

static void log_compact_if_worth(struct journal *journal)
{
    if (journal->dropped > COMPACT_UNITS &&
        journal->dropped > (log_end(journal) - log_begin(journal)) / 3)
        log_compact(journal);
}

static void entry_add(struct journal *journal, const struct journal_entry *head, const void *bytes)
{
    const uint64_t begin = log_begin(journal), end = log_end(journal);
    struct journal_entry *entry;
    uint32_t *slot, former;

    if (journal->entries >= ENTRIES_MAX || !log_grow(journal, (end + head->units) * UNIT) ||
        (2 * (journal->used + 1) > journal->capacity && !index_make(journal))) {
        journal_set_incomplete(journal, "its journal is full");
        return;
    }
    entry = entry_at(journal, end);
    memcpy(entry, head, sizeof(*head));
    if (head->size)
        memcpy(entry->bytes, bytes, head->size);
    slot = slot_of(journal, head->kind, head->key);
    former = *slot;
    journal->used += !former;
    journal->entries++;
    *slot = (uint32_t)end + 1;
    /* release: the entry is complete before the log includes it. */
    atomic_store_explicit(&journal->header->extent, extent_of(begin, end + head->units),
                          memory_order_release);
    entry_remove(journal, former);
}

void journal_put(struct journal *journal, enum journal_kind kind, uint64_t key,
                 const uint64_t value[JOURNAL_VALUES], const void *bytes, uint64_t size)
{
    struct journal_entry head = {.kind = kind, .key = key, .size = size};

    if (!journal || journal_incomplete(journal))
        return;
    if (size > BYTES_MAX) {
        journal_set_incomplete(journal, "its journal is full");
        return;
    }
    head.units = (uint32_t)((sizeof(head) + size + UNIT - 1) / UNIT);
    memcpy(head.value, value, sizeof(head.value));
    entry_add(journal, &head, bytes);
    log_compact_if_worth(journal); /* the same entry may be put again and again */
}

void journal_remove(struct journal *journal, enum journal_kind kind, uint64_t key)
{
    if (!journal || journal_incomplete(journal) || !journal->slots)
        return;
    entry_remove(journal, *slot_of(journal, kind, key));
    log_compact_if_worth(journal);
}

void journal_sweep(struct journal *journal, journal_test *gone)
{
    if (!journal || journal_incomplete(journal))
        return;
    for (const struct journal_entry *e = NULL; (e = journal_next(journal, e));) {
        if (gone(journal, e))
            entry_remove(journal, (uint32_t)unit_of(journal, e) + 1);
    }
    log_compact_if_worth(journal);
}

const struct journal_entry *journal_find(const struct journal *journal, enum journal_kind kind,
                                         uint64_t key)
{
    const uint32_t slot = journal && journal->slots ? *slot_of(journal, kind, key) : 0;

    return slot ? entry_at(journal, slot - 1) : NULL;
}

/* ---- Taking up ------------------------------------------------------------------------------- */

/* Returns whether the log consists of whole entries. Counts the valid entries, and the units of
 * removed ones. */
static bool log_check(struct journal *journal)
{
    const uint64_t begin = log_begin(journal), end = log_end(journal);

    if (begin > end || end > journal->bytes / UNIT)
        return false;
    for (uint64_t unit = begin; unit < end;) {
        const struct journal_entry *entry = entry_at(journal, unit);
        if (!entry->units || entry->units > end - unit ||
            entry->size > (uint64_t)entry->units * UNIT - sizeof(*entry))
            return false;
        journal->dropped += entry->kind ? 0 : entry->units;
        journal->entries += entry->kind != 0;
        unit += entry->units;
    }
    return true;
}

static bool is_there(const struct journal *journal, uint32_t kind, uint64_t key)
{
    return kind == JOURNAL_STREAM ? key < SEG_STREAMS && journal->header->streams[key].open
                                  : journal_find(journal, kind, key) != NULL;
}

/* Makes the last answer agree with the log, in case the worker was lost between noting the answer
 * and making its change. */
static void change_settle(struct journal *journal)
{
    struct journal_answer *answer = &journal->header->answer;

    if (!answer->serial)
        return;
    if (answer->change == JOURNAL_MAKES && !is_there(journal, answer->kind, answer->key))
        answer->serial = 0;
    else if (answer->change == JOURNAL_REMOVES && answer->kind != JOURNAL_STREAM)
        journal_remove(journal, (enum journal_kind)answer->kind, answer->key);
    else if (answer->change == JOURNAL_REMOVES && answer->key < SEG_STREAMS)
        journal->header->streams[answer->key].open = 0;
}

bool journal_late(const struct journal *journal, uint64_t until)
{
    return journal && journal->entries > ENTRIES_PROMPT && clock_ns() >= until;
}

struct journal *journal_open(int descriptor, uint64_t session, uint32_t uid, uint64_t until)
{
    struct journal *journal = journal_of(descriptor, session, uid);
    struct stat status;

    if (!journal)
        return NULL;
    if (fstat(descriptor, &status) == 0 && status.st_size >= (off_t)(HEADER + FIRST_BYTES) &&
        file_map(journal, (uint64_t)status.st_size - HEADER) && journal->header->magic == MAGIC &&
        log_check(journal)) {
        if (journal_late(journal, until)) {
            journal_set_incomplete(journal, JOURNAL_LATE);
            return journal;
        }
        if (index_make(journal)) {
            change_settle(journal);
            return journal;
        }
    }
    journal_free(journal);
    return NULL;
}

void journal_glance(int descriptor, void (*look)(const struct journal_entry *entry, void *argument),
                    void *argument)
{
    unsigned char read[256 * UNIT];
    struct journal_entry entry;
    uint64_t extent, from = 0, units = 0; /* `read` has `units` from `from` on */

    if (descriptor < 0 || pread(descriptor, &extent, sizeof(extent),
                                offsetof(struct header, extent)) != (ssize_t)sizeof(extent))
        return;
    for (uint64_t unit = extent & UINT32_MAX; unit < extent >> 32; unit += entry.units) {
        if (unit - from >= units) {
            const ssize_t bytes =
                pread(descriptor, read, sizeof(read), (off_t)(HEADER + unit * UNIT));

            from = unit;
            units = bytes > 0 ? (uint64_t)bytes / UNIT : 0;
        }
        if (units == 0)
            return;
        memcpy(&entry, read + (unit - from) * UNIT, sizeof(entry));
        if (entry.units == 0)
            return;
        look(&entry, argument);
    }
}

/* ---- Incomplete journals --------------------------------------------------------------------- */

void journal_set_incomplete(struct journal *journal, const char *why)
{
    if (!journal || journal_incomplete(journal))
        return;
    strncpy(journal->header->why, why, sizeof(journal->header->why) - 1);
    /* release: the reason before the word that says that there is one. */
    atomic_store_explicit(&journal->header->incomplete, 1, memory_order_release);
    incomplete_log(journal->session, journal->uid, journal->header->why);
}

const char *journal_incomplete(const struct journal *journal)
{
    if (!journal)
        return "it has no journal";
    return atomic_load_explicit(&journal->header->incomplete, memory_order_acquire)
               ? journal->header->why
               : NULL;
}

/* ---- The header ------------------------------------------------------------------------------ */

void journal_stream(struct journal *journal, uint32_t index, const struct journal_stream *stream)
{
    if (journal)
        journal->header->streams[index] = *stream;
}

void journal_stream_get(const struct journal *journal, uint32_t index,
                        struct journal_stream *stream)
{
    *stream = journal->header->streams[index];
}

void journal_answer(struct journal *journal, const struct journal_answer *answer)
{
    struct journal_answer *noted;

    if (!journal)
        return;
    noted = &journal->header->answer;
    if (answer->change == JOURNAL_KEEPS && noted->serial == answer->serial &&
        noted->status == answer->status &&
        memcmp(noted->ret, answer->ret, sizeof(noted->ret)) == 0) {
        /* The answer was noted with its change, which has been made by now. */
        atomic_thread_fence(memory_order_release);
        *(volatile uint32_t *)&noted->change = JOURNAL_KEEPS;
        return;
    }
    /* Without a serial the answer is void while the rest is written. */
    *(volatile uint32_t *)&journal->header->answer.serial = 0;
    atomic_thread_fence(memory_order_release);
    memcpy(journal->header->answer.ret, answer->ret, sizeof(answer->ret));
    journal->header->answer.status = answer->status;
    journal->header->answer.change = answer->change;
    journal->header->answer.kind = answer->kind;
    journal->header->answer.key = answer->key;
    atomic_thread_fence(memory_order_release);
    *(volatile uint32_t *)&journal->header->answer.serial = answer->serial;
}

void journal_answer_get(const struct journal *journal, struct journal_answer *answer)
{
    *answer = journal->header->answer;
}

void journal_revoked_set(struct journal *journal, uint32_t import, bool revoked)
{
    const uint64_t bit = UINT64_C(1) << import % 64;

    /* Relaxed: the bit stands by itself, and the next worker reads it when this one has ended. */
    if (journal && revoked)
        atomic_fetch_or_explicit(&journal->header->revoked[import / 64], bit, memory_order_relaxed);
    else if (journal)
        atomic_fetch_and_explicit(&journal->header->revoked[import / 64], ~bit,
                                  memory_order_relaxed);
}

bool journal_revoked(const struct journal *journal, uint32_t import)
{
    return journal &&
           atomic_load_explicit(&journal->header->revoked[import / 64], memory_order_relaxed) >>
                   import % 64 &
               1;
}

struct journal_positions *journal_positions(struct journal *journal)
{
    return journal ? &journal->header->positions : NULL;
}

/* rewrite_cache.c - see rewrite_cache.h. */
#include "worker/module/rewrite_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "worker/module/cache_share.h"

#define BYTES_MAX   (UINT64_C(64) << 20) /* for all texts and reports */
#define ENTRY_MAX   (BYTES_MAX / 8)
#define ENTRIES     512u
/* The least size that an entry counts as, so that there are at most ENTRIES of them. */
#define ENTRY_LEAST (BYTES_MAX / ENTRIES)

/* ---- Reports --------------------------------------------------------------------------------- */

/* The report is the first member, so that its address is that of the whole. */
struct shared_report {
    struct ptx_rewrite_report report;
    _Atomic uint32_t holders;
};

struct ptx_rewrite_report *report_new(void)
{
    struct shared_report *shared = calloc(1, sizeof(*shared));

    if (!shared)
        return NULL;
    atomic_init(&shared->holders, 1);
    return &shared->report;
}

static struct ptx_rewrite_report *report_hold(struct ptx_rewrite_report *report)
{
    struct shared_report *shared = (struct shared_report *)report;

    /* Relaxed: the caller holds the report already. */
    atomic_fetch_add_explicit(&shared->holders, 1, memory_order_relaxed);
    return report;
}

void report_release(struct ptx_rewrite_report *report)
{
    struct shared_report *shared;

    if (!report)
        return;
    shared = (struct shared_report *)report;
    /* acq_rel: all other holders are done with the report before it is freed */
    if (atomic_fetch_sub_explicit(&shared->holders, 1, memory_order_acq_rel) > 1)
        return;
    ptx_rewrite_report_deinit(report);
    free(shared);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

struct entry {
    unsigned passes;
    char *text; /* `length` bytes, then the new text and a NUL; NULL: the entry is free */
    size_t length, out_length;
    uint64_t bytes; /* the size that the entry counts as */
    bool changed;   /* there is a new text */
    struct ptx_rewrite_report *report;
    struct cache_share share;
};

static struct {
    pthread_mutex_t lock;
    struct entry entries[ENTRIES];
    uint64_t bytes;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Finds an entry by comparing texts: texts of one length mostly differ early, and comparing takes a
 * fifteenth of the time of hashing. The whole cache is compared in 3 ms. */
static struct entry *entry_find(const char *text, size_t length, unsigned passes)
{
    for (uint32_t i = 0; i < ENTRIES; i++) {
        struct entry *entry = &cache.entries[i];

        if (entry->text && entry->passes == passes && entry->length == length &&
            memcmp(entry->text, text, length) == 0)
            return entry;
    }
    return NULL;
}

static void entry_deinit(struct entry *entry)
{
    cache.bytes -= entry->bytes;
    free(entry->text);
    report_release(entry->report);
    *entry = (struct entry){0};
}

/* Evicts entries until `bytes` more of the user fit. */
static void entries_evict(uint64_t bytes, uint32_t uid)
{
    struct cache_item items[ENTRIES];
    size_t count = 0;

    for (uint32_t i = 0; i < ENTRIES; i++) {
        if (cache.entries[i].text)
            items[count++] = (struct cache_item){&cache.entries[i].share, cache.entries[i].bytes};
    }
    cache_share_evict(items, count, uid, bytes, BYTES_MAX);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        if (cache.entries[i].text && cache.entries[i].share.count == 0)
            entry_deinit(&cache.entries[i]);
    }
}

/* Takes a free entry for `bytes` of the user. */
static struct entry *entry_take(uint64_t bytes, uint32_t uid)
{
    struct entry *entry = cache.entries;

    if (cache.bytes + bytes > BYTES_MAX)
        entries_evict(bytes, uid);
    while (entry->text)
        entry++;
    cache.bytes += bytes;
    return entry;
}

bool rewrite_cache_find(const char *text, size_t length, unsigned passes, char **out,
                        size_t *out_length, struct ptx_rewrite_report **report, uint32_t uid)
{
    struct entry *entry;
    bool found = false;

    pthread_mutex_lock(&cache.lock);
    entry = entry_find(text, length, passes);
    if (entry) {
        *out = entry->changed ? malloc(entry->out_length + 1) : NULL;
        found = *out || !entry->changed;
    }
    if (found) {
        if (*out)
            memcpy(*out, entry->text + length, entry->out_length + 1);
        *out_length = entry->out_length;
        *report = report_hold(entry->report);
        cache_share_note(&entry->share, uid, clock_ns());
    }
    pthread_mutex_unlock(&cache.lock);
    return found;
}

void rewrite_cache_put(const char *text, size_t length, unsigned passes, const char *out,
                       size_t out_length, struct ptx_rewrite_report *report, uint32_t uid)
{
    struct entry made = {.passes = passes,
                         .length = length,
                         .out_length = out_length,
                         .bytes = (uint64_t)length + out_length + ptx_rewrite_report_bytes(report),
                         .changed = out != NULL};

    if (made.bytes > ENTRY_MAX)
        return;
    made.bytes = made.bytes < ENTRY_LEAST ? ENTRY_LEAST : made.bytes;
    made.text = malloc(length + out_length + 1);
    if (!made.text)
        return;
    memcpy(made.text, text, length);
    if (out)
        memcpy(made.text + length, out, out_length);
    made.text[length + out_length] = '\0';
    pthread_mutex_lock(&cache.lock);
    struct entry *found = entry_find(text, length, passes);
    if (found) { /* another thread was quicker */
        cache_share_note(&found->share, uid, clock_ns());
        free(made.text);
    } else {
        struct entry *entry = entry_take(made.bytes, uid);

        made.report = report_hold(report);
        cache_share_note(&made.share, uid, clock_ns());
        *entry = made;
    }
    pthread_mutex_unlock(&cache.lock);
}

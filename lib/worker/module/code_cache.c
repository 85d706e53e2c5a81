/* code_cache.c - see code_cache.h. */
#include "worker/module/code_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/util.h"
#include "worker/module/assembler_choice.h"
#include "worker/module/cache_share.h"
#include "worker/module/code_disk.h"

#define ENTRY_MAX   (LINK_CODE_BYTES / 8)
/* The least size that an entry counts as, so that there are not too many to look through. */
#define ENTRY_LEAST (LINK_CODE_BYTES / ENTRIES_MAX)
#define ENTRIES_MAX 4096u

/* The beginning of the memfd. Entries follow, one behind the other. */
struct cache {
    char made_for[128];
    /* The bytes of all entries. It is stored after an entry, because a worker may be killed while
     * it writes one. */
    _Atomic uint64_t used;
};

/* Counts changes in how texts are compiled, so that code from before is not used: since 1 ptxas
 * compiles for all sessions. */
#define WAY 1u

struct entry {
    uint64_t text_size, code_size;
    struct cache_share share;
    unsigned char bytes[]; /* text and code, padded to a multiple of 8 */
};

static struct {
    struct cache *cache; /* NULL: none */
    uint64_t version;    /* the assembler's version in `made_for` */
    pthread_mutex_t lock;
} opened = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool code_cache_open(int fd, const struct link_device *info)
{
    char made_for[sizeof(opened.cache->made_for)];
    struct cache *cache = mmap(NULL, LINK_CODE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (cache == MAP_FAILED)
        return false;
    opened.version = assembler_version();
    snprintf(made_for, sizeof(made_for), "%s, %u.%u, %s, %llx, %u", info->name, info->compute_major,
             info->compute_minor, info->driver, (unsigned long long)opened.version, WAY);
    if (strncmp(cache->made_for, made_for, sizeof(made_for)) != 0) {
        atomic_store_explicit(&cache->used, 0, memory_order_relaxed);
        memcpy(cache->made_for, made_for, sizeof(made_for));
    }
    opened.cache = cache;
    return true;
}

/* Returns the bytes that the entry takes in the memfd. */
static uint64_t entry_size(const struct entry *entry)
{
    return (sizeof(*entry) + entry->text_size + entry->code_size + 7) & ~UINT64_C(7);
}

/* Returns the size that the entry counts as. */
static uint64_t entry_counts(const struct entry *entry)
{
    return entry_size(entry) < ENTRY_LEAST ? ENTRY_LEAST : entry_size(entry);
}

static bool is_too_large(size_t text_size, size_t code_size)
{
    return text_size > ENTRY_MAX || code_size > ENTRY_MAX - text_size;
}

static unsigned char *entries(void)
{
    return (unsigned char *)(opened.cache + 1);
}

static struct entry *entry_at(uint64_t at)
{
    return (void *)(entries() + at);
}

static uint64_t used_load(void)
{
    return atomic_load_explicit(&opened.cache->used, memory_order_relaxed);
}

static void used_store(uint64_t used)
{
    /* release: stores the entries before their size, for the worker that follows if this one is
     * killed */
    atomic_store_explicit(&opened.cache->used, used, memory_order_release);
}

/* Returns the entry of that text; NULL: there is none. Compares texts and not hashes, for the
 * reason in rewrite_cache.c. The caller holds the lock. */
static struct entry *entry_find(const unsigned char *text, size_t size)
{
    const uint64_t used = used_load();
    struct entry *entry;

    for (uint64_t at = 0; at < used; at += entry_size(entry)) {
        entry = entry_at(at);
        if (entry->text_size == size && memcmp(entry->bytes, text, size) == 0)
            return entry;
    }
    return NULL;
}

/* Removes the entries without users, and closes the gaps. If the worker is killed meanwhile, the
 * entries that were not moved yet are lost. */
static void memory_compact(void)
{
    const uint64_t end = used_load();
    uint64_t kept = 0, size;

    for (uint64_t at = 0; at < end; at += size) {
        const struct entry *entry = entry_at(at);

        size = entry_size(entry);
        if (entry->share.count == 0) {
            if (kept == at)
                used_store(kept);
            continue;
        }
        if (kept != at) {
            memmove(entries() + kept, entry, size);
            used_store(kept + size);
        }
        kept += size;
    }
}

/* Evicts entries to make room for one of that size of the user's. Frees an eighth of the memory at
 * a time, so that entries are not moved for each new one. */
static void memory_make_room(uint32_t uid, uint64_t size)
{
    const uint64_t capacity = LINK_CODE_BYTES - sizeof(struct cache), used = used_load();
    CLEANUP_FREE struct cache_item *items = calloc(ENTRIES_MAX, sizeof(*items));
    size_t count = 0;

    if (!items) {
        used_store(0);
        return;
    }
    for (uint64_t at = 0; at < used; at += entry_size(entry_at(at)))
        items[count++] = (struct cache_item){&entry_at(at)->share, entry_counts(entry_at(at))};
    cache_share_evict(items, count, uid, size,
                      capacity - (ENTRY_MAX + sizeof(struct entry) + 8) + size);
    memory_compact();
}

/* Returns whether an entry of that size fits beside all others. */
static bool has_room(uint64_t size)
{
    const uint64_t capacity = LINK_CODE_BYTES - sizeof(struct cache), used = used_load();
    uint64_t counted = size < ENTRY_LEAST ? ENTRY_LEAST : size;

    for (uint64_t at = 0; at < used; at += entry_size(entry_at(at)))
        counted += entry_counts(entry_at(at));
    return counted <= capacity;
}

static unsigned char *memory_find(const unsigned char *text, size_t size, size_t *code_size,
                                  uint32_t uid)
{
    struct entry *entry;
    unsigned char *code = NULL;

    pthread_mutex_lock(&opened.lock);
    entry = entry_find(text, size);
    if (entry && (code = malloc(entry->code_size))) {
        memcpy(code, entry->bytes + size, entry->code_size);
        *code_size = entry->code_size;
        cache_share_note(&entry->share, uid, clock_ns());
    }
    pthread_mutex_unlock(&opened.lock);
    return code;
}

static void memory_put(const unsigned char *text, size_t size, const void *code, size_t code_size,
                       uint32_t uid)
{
    const struct entry made = {.text_size = size, .code_size = code_size};
    struct entry *entry;

    pthread_mutex_lock(&opened.lock);
    entry = entry_find(text, size); /* two threads may compile the same text */
    if (entry) {
        cache_share_note(&entry->share, uid, clock_ns());
    } else {
        if (!has_room(entry_size(&made)))
            memory_make_room(uid, entry_size(&made));
        entry = entry_at(used_load());
        *entry = made;
        cache_share_note(&entry->share, uid, clock_ns());
        memcpy(entry->bytes, text, size);
        memcpy(entry->bytes + size, code, code_size);
        used_store(used_load() + entry_size(entry));
    }
    pthread_mutex_unlock(&opened.lock);
}

unsigned char *code_cache_find(const unsigned char *text, size_t size, size_t *code_size,
                               uint32_t uid)
{
    unsigned char *code;

    if (!opened.cache)
        return NULL;
    code = memory_find(text, size, code_size, uid);
    if (code || size > ENTRY_MAX)
        return code;
    code = code_disk_find(opened.cache->made_for, text, size, code_size, uid);
    if (code && !is_too_large(size, *code_size))
        memory_put(text, size, code, *code_size, uid);
    return code;
}

void code_cache_put(const unsigned char *text, size_t size, const void *code, size_t code_size,
                    uint32_t uid)
{
    if (!opened.cache || is_too_large(size, code_size))
        return;
    memory_put(text, size, code, code_size, uid);
    /* If the assembler has changed or gone, this code may be another compiler's, and is not kept on
     * disk under the former assembler's name. */
    if (assembler_version() == opened.version)
        code_disk_put(opened.cache->made_for, text, size, code, code_size, uid);
}

/* code_cache.c - see code_cache.h. */
#include "worker/module/code_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "worker/module/code_disk.h"

#define ENTRY_MAX (LINK_CODE_BYTES / 8)

/* The beginning of the memory. Entries follow, one behind the other. */
struct cache {
    char made_for[128];
    /* Bytes of the entries. A worker may be killed while it writes one: `used` comes last. */
    _Atomic uint64_t used;
};

struct entry {
    uint64_t text_size, code_size;
    unsigned char bytes[]; /* text, code; then up to a multiple of 8 */
};

static struct {
    struct cache *cache; /* NULL: none */
    pthread_mutex_t lock;
} opened = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool code_cache_open(int fd, const struct link_device *info)
{
    char made_for[sizeof(opened.cache->made_for)];
    struct cache *cache = mmap(NULL, LINK_CODE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (cache == MAP_FAILED)
        return false;
    snprintf(made_for, sizeof(made_for), "%s, %u.%u, %s", info->name, info->compute_major,
             info->compute_minor, info->driver);
    if (strncmp(cache->made_for, made_for, sizeof(made_for)) != 0) {
        atomic_store_explicit(&cache->used, 0, memory_order_relaxed);
        memcpy(cache->made_for, made_for, sizeof(made_for));
    }
    opened.cache = cache;
    return true;
}

static uint64_t entry_size(uint64_t text_size, uint64_t code_size)
{
    return (sizeof(struct entry) + text_size + code_size + 7) & ~UINT64_C(7);
}

static unsigned char *entries(void)
{
    return (unsigned char *)(opened.cache + 1);
}

/* Under the lock. NULL: there is none. Compares the texts and no hash, for the reason in
 * rewrite_cache.c. */
static const struct entry *entry_find(const unsigned char *text, size_t size)
{
    const uint64_t used = atomic_load_explicit(&opened.cache->used, memory_order_relaxed);
    const struct entry *entry;

    for (uint64_t at = 0; at < used; at += entry_size(entry->text_size, entry->code_size)) {
        entry = (const void *)(entries() + at);
        if (entry->text_size == size && memcmp(entry->bytes, text, size) == 0)
            return entry;
    }
    return NULL;
}

static unsigned char *memory_find(const unsigned char *text, size_t size, size_t *code_size)
{
    const struct entry *entry;
    unsigned char *code = NULL;

    pthread_mutex_lock(&opened.lock);
    entry = entry_find(text, size);
    if (entry && (code = malloc(entry->code_size))) {
        memcpy(code, entry->bytes + size, entry->code_size);
        *code_size = entry->code_size;
    }
    pthread_mutex_unlock(&opened.lock);
    return code;
}

static void memory_put(const unsigned char *text, size_t size, const void *code, size_t code_size)
{
    const uint64_t capacity = LINK_CODE_BYTES - sizeof(struct cache);
    struct entry *entry;
    uint64_t used;

    pthread_mutex_lock(&opened.lock);
    if (!entry_find(text, size)) { /* two may compile the same text side by side */
        used = atomic_load_explicit(&opened.cache->used, memory_order_relaxed);
        if (entry_size(size, code_size) > capacity - used) {
            used = 0;
            atomic_store_explicit(&opened.cache->used, 0, memory_order_relaxed);
        }
        entry = (void *)(entries() + used);
        *entry = (struct entry){.text_size = size, .code_size = code_size};
        memcpy(entry->bytes, text, size);
        memcpy(entry->bytes + size, code, code_size);
        /* release: the entry before its size, for a worker that comes when this one is killed */
        atomic_store_explicit(&opened.cache->used, used + entry_size(size, code_size),
                              memory_order_release);
    }
    pthread_mutex_unlock(&opened.lock);
}

unsigned char *code_cache_find(const unsigned char *text, size_t size, size_t *code_size)
{
    unsigned char *code;

    if (!opened.cache)
        return NULL;
    code = memory_find(text, size, code_size);
    if (code || size > ENTRY_MAX)
        return code;
    code = code_disk_find(opened.cache->made_for, text, size, code_size);
    if (code)
        memory_put(text, size, code, *code_size);
    return code;
}

void code_cache_put(const unsigned char *text, size_t size, const void *code, size_t code_size)
{
    if (!opened.cache || size > ENTRY_MAX || code_size > ENTRY_MAX - size)
        return;
    memory_put(text, size, code, code_size);
    code_disk_put(opened.cache->made_for, text, size, code, code_size);
}

/* A growing heap that is freed as a whole. Owned by one module; one thread at a time. */
#include "ptx/ir/arena.h"

#include <stdlib.h>
#include <string.h>

struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(16) unsigned char data[];
};

struct arena {
    struct chunk *chunks;
    size_t total, limit;
    bool full;
};

enum { CHUNK_FIRST = 16 << 10, CHUNK_MOST = 1 << 20 };

struct arena *arena_new(size_t limit)
{
    struct arena *a = calloc(1, sizeof(*a));

    if (a)
        a->limit = limit;
    return a;
}

void arena_free(struct arena *a)
{
    struct chunk *c, *next;

    if (!a)
        return;
    for (c = a->chunks; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

size_t arena_bytes(const struct arena *a)
{
    size_t bytes = a ? sizeof(*a) : 0;

    for (const struct chunk *c = a ? a->chunks : NULL; c; c = c->next)
        bytes += sizeof(*c) + c->size;
    return bytes;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    struct chunk *c = a->chunks;
    size_t size;
    void *p;

    if (bytes > a->limit - a->total) {
        a->full = true;
        return NULL;
    }
    bytes = (bytes + 15) & ~(size_t)15;
    if (!c || c->size - c->used < bytes) {
        size = c ? c->size * 2 : CHUNK_FIRST;
        if (size > CHUNK_MOST)
            size = CHUNK_MOST;
        if (size < bytes)
            size = bytes;
        c = calloc(1, sizeof(*c) + size);
        if (!c)
            return NULL;
        c->size = size;
        /* A large single block goes behind the current chunk, which may have room left. */
        if (a->chunks && bytes == size) {
            c->next = a->chunks->next;
            a->chunks->next = c;
        } else {
            c->next = a->chunks;
            a->chunks = c;
        }
    }
    p = c->data + c->used;
    c->used += bytes;
    a->total += bytes < a->limit - a->total ? bytes : a->limit - a->total;
    return p;
}

char *arena_string(struct arena *a, const char *text, size_t len)
{
    char *s = arena_alloc(a, len + 1);

    if (s)
        memcpy(s, text, len);
    return s;
}

bool arena_is_full(const struct arena *a)
{
    return a->full;
}

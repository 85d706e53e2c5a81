/* Names in nested scopes. One parse, one thread. */
#include "ptx/read/symtab.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const size_t SYMBOLS_MOST = 256u << 20; /* bytes: some three million names at once */

bool symtab_init(struct symtab *t)
{
    memset(t, 0, sizeof(*t));
    t->nbuckets = 1024;
    t->buckets = calloc(t->nbuckets, sizeof(*t->buckets));
    t->scopes = calloc(SYMTAB_MAX_DEPTH + 1, sizeof(*t->scopes));
    t->arena = arena_new(SYMBOLS_MOST);
    /* A predictable seed would only allow the slow case again; the address is good enough then. */
    if (getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) != sizeof(t->seed))
        t->seed = (uintptr_t)t->buckets;
    if (t->buckets && t->scopes && t->arena)
        return true;
    symtab_deinit(t);
    return false;
}

void symtab_deinit(struct symtab *t)
{
    free(t->buckets);
    free(t->scopes);
    arena_free(t->arena);
    memset(t, 0, sizeof(*t));
}

/* Multiplies by a secret odd number, and folds both halves: without the seed, nobody can tell which
 * names collide. */
static uint32_t hash_name(const struct symtab *t, enum sym_class class, const char *name,
                          uint32_t len)
{
    uint64_t h = len * 4ull + class, word;
    __extension__ unsigned __int128 product;
    uint32_t i;

    for (i = 0; i < len; i += 8) {
        word = 0;
        memcpy(&word, name + i, len - i < 8 ? len - i : 8);
        product = h ^ word;
        product *= t->seed | 1;
        h = (uint64_t)(product >> 64) ^ (uint64_t)product;
        h += t->seed << 32 | t->seed >> 32;
    }
    return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

struct sym *symtab_find(const struct symtab *t, enum sym_class class, const char *name,
                        uint32_t len)
{
    uint32_t hash = hash_name(t, class, name, len);
    struct sym *s, *best = NULL;

    /* Returns the innermost symbol: in the chain, a label that was moved outwards may come before
     * an inner one. */
    for (s = t->buckets[hash & (t->nbuckets - 1)]; s; s = s->chain)
        if (s->hash == hash && s->class == class && s->len == len && !memcmp(s->name, name, len) &&
            (!best || s->depth > best->depth))
            best = s;
    return best;
}

static void grow(struct symtab *t)
{
    uint32_t n = t->nbuckets * 4, i;
    struct sym **buckets = calloc(n, sizeof(*buckets));
    struct sym *s, *next;

    if (!buckets)
        return; /* lookups stay correct and become slower */
    for (i = 0; i < t->nbuckets; i++) {
        for (s = t->buckets[i]; s; s = next) {
            next = s->chain;
            s->chain = buckets[s->hash & (n - 1)];
            buckets[s->hash & (n - 1)] = s;
        }
    }
    free(t->buckets);
    t->buckets = buckets;
    t->nbuckets = n;
}

static enum sym_class class_of(enum sym_kind kind)
{
    return kind == SYM_RANGE ? SYM_CLASS_RANGE : kind == SYM_STEM ? SYM_CLASS_STEM : SYM_CLASS_NAME;
}

struct sym *symtab_add(struct symtab *t, enum sym_kind kind, const char *name, uint32_t len,
                       uint32_t depth)
{
    struct sym *s = t->free;

    if (t->nsyms >= t->nbuckets)
        grow(t);
    if (s) {
        t->free = s->chain;
        memset(s, 0, sizeof(*s));
    } else {
        s = arena_alloc(t->arena, sizeof(*s));
        if (!s)
            return NULL;
    }
    s->kind = kind;
    s->class = class_of(kind);
    s->name = name;
    s->len = len;
    s->depth = depth;
    s->hash = hash_name(t, s->class, name, len);
    s->chain = t->buckets[s->hash & (t->nbuckets - 1)];
    t->buckets[s->hash & (t->nbuckets - 1)] = s;
    s->scope_next = t->scopes[depth];
    t->scopes[depth] = s;
    t->nsyms++;
    return s;
}

bool symtab_push(struct symtab *t)
{
    if (t->depth >= SYMTAB_MAX_DEPTH)
        return false;
    t->depth++;
    return true;
}

void symtab_pop(struct symtab *t)
{
    struct sym *s, *next, **link;

    for (s = t->scopes[t->depth]; s; s = next) {
        next = s->scope_next;
        link = &t->buckets[s->hash & (t->nbuckets - 1)];
        while (*link != s)
            link = &(*link)->chain;
        *link = s->chain;
        s->chain = t->free;
        t->free = s;
        t->nsyms--;
    }
    t->scopes[t->depth] = NULL;
    t->depth--;
}

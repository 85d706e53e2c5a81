/* Names in nested scopes. Belongs to one parse; keys point into the text or the arena, which
 * outlive it. The hash is seeded per table, so that hostile names cannot be chosen to collide. */
#ifndef GS_PTX_SYMTAB_H
#define GS_PTX_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/ir/arena.h"

enum sym_kind {
    SYM_VAR,   /* .ptr: struct ptx_var */
    SYM_FUNC,  /* .ptr: struct ptx_func */
    SYM_REG,   /* .index: register; .count: 0, or components of a vector */
    SYM_LABEL, /* .index: the parser's label number */
    SYM_TABLE, /* .index: ptx_func.tables */
    SYM_PROTO, /* .ptr: struct ptx_proto */
    SYM_RANGE, /* %r of .reg %r<100>: .index first register, .count */
    SYM_STEM   /* a name used somewhere in the function: .index says how often it was made unique,
                  .nested where */
};

/* Names live apart from ranges and stems: the same characters may be all three. */
enum sym_class { SYM_CLASS_NAME, SYM_CLASS_RANGE, SYM_CLASS_STEM };

struct sym {
    const char *name;
    uint32_t len, hash;
    uint8_t kind, class;
    bool nested;
    bool defined; /* labels: the definition has been met */
    uint32_t depth, index, count;
    uint32_t line, column; /* of the first mention */
    void *ptr;
    struct sym *chain, *scope_next;
};

struct symtab {
    struct arena *arena;
    struct sym **buckets;
    uint32_t nbuckets, nsyms, depth;
    uint64_t seed;
    struct sym **scopes; /* list heads by depth */
    struct sym *free;
};

enum { SYMTAB_MAX_DEPTH = 72 };

bool symtab_init(struct symtab *t); /* false: no memory */
void symtab_deinit(struct symtab *t);
struct sym *symtab_find(const struct symtab *t, enum sym_class class, const char *name,
                        uint32_t len);
/* Adds to the scope at DEPTH, which is the current one or one around it. NULL: no memory. */
struct sym *symtab_add(struct symtab *t, enum sym_kind kind, const char *name, uint32_t len,
                       uint32_t depth);
/* Returns false where scopes are nested too deeply. */
bool symtab_push(struct symtab *t);
void symtab_pop(struct symtab *t);

#endif

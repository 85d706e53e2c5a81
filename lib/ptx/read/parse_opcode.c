/* Names of opcodes: a hash of them, made once for each text. */
#include <stdlib.h>

#include "ptx/read/parse.h"

enum { NAME_SLOTS = 1024 };

/* Opcodes that have a second spelling. */
static const struct {
    const char *name;
    uint16_t op;
} aliases[] = {
    {"bar.cta.sync", PTX_OP_BAR_SYNC},
    {"bar.cta.arrive", PTX_OP_BAR_ARRIVE},
    {"bar.cta.red", PTX_OP_BAR_RED},
    {"barrier.cta.sync", PTX_OP_BARRIER_SYNC},
    {"barrier.cta.arrive", PTX_OP_BARRIER_ARRIVE},
    {"barrier.cta.red", PTX_OP_BARRIER_RED},
};

enum { NALIASES = sizeof(aliases) / sizeof(aliases[0]) };
_Static_assert((PTX_OP_COUNT + NALIASES) * 2 < NAME_SLOTS, "the table of names stays half empty");

static const char *name_of(unsigned index)
{
    return index < PTX_OP_COUNT ? ptx_ops[index].name : aliases[index - PTX_OP_COUNT].name;
}

static uint32_t hash_text(const char *text, size_t len)
{
    uint32_t h = 2166136261u;

    while (len--)
        h = (h ^ (unsigned char)*text++) * 16777619u;
    return h ^ h >> 15;
}

bool op_names_init(struct parser *p)
{
    unsigned i, at;

    p->op_names = calloc(NAME_SLOTS, sizeof(*p->op_names));
    if (!p->op_names)
        return false;
    for (i = 1; i < PTX_OP_COUNT + NALIASES; i++) {
        at = hash_text(name_of(i), strlen(name_of(i))) % NAME_SLOTS;
        while (p->op_names[at])
            at = (at + 1) % NAME_SLOTS;
        p->op_names[at] = (uint16_t)i;
    }
    return true;
}

static unsigned find_name(const struct parser *p, const char *text, size_t len)
{
    unsigned at = hash_text(text, len) % NAME_SLOTS, i;

    while ((i = p->op_names[at]) != 0) {
        if (strlen(name_of(i)) == len && !memcmp(name_of(i), text, len))
            return i < PTX_OP_COUNT ? i : aliases[i - PTX_OP_COUNT].op;
        at = (at + 1) % NAME_SLOTS;
    }
    return PTX_OP_NONE;
}

/* The opcode with the longest name that MNEMONIC begins with, up to a dot. */
enum ptx_op parser_find_op(const struct parser *p, const struct token *mnemonic, const char **rest)
{
    const char *end = mnemonic->text + mnemonic->len, *at = mnemonic->text;
    enum ptx_op best = PTX_OP_NONE;
    unsigned parts = 0, op;

    while (at < end && parts++ < 5) {
        at = memchr(at, '.', (size_t)(end - at));
        if (!at)
            at = end;
        op = find_name(p, mnemonic->text, (size_t)(at - mnemonic->text));
        if (op) {
            best = op;
            *rest = at;
        }
        at++;
    }
    return best;
}

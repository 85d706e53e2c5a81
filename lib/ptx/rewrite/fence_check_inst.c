/* What a single instruction is, for the checker of fences; see fence_check.h. Depends on no other
 * part of the checker. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "ptx/rewrite/fence_check.h"

#define MOST_TEXT 1024

bool checker_fails(struct checker *c, uint32_t i, const char *what)
{
    char text[160] = "";

    if (i < c->f->ninsts)
        ptx_inst_format(c->f, &c->f->insts[i], text, sizeof(text));
    snprintf(c->why, c->why_size, "%.60s: \"%.80s\": %s", c->f->name, text, what);
    return false;
}

bool checker_is_reserved(const char *name)
{
    return !strncmp(name, "gshare$", 7);
}

bool checker_is_gshare_function(const struct ptx_func *f)
{
    return checker_is_reserved(f->name) || !strncmp(f->name, "_ZN12gshare_print", 17);
}

uint64_t checker_access_bytes(const struct ptx_inst *inst)
{
    uint64_t bytes = (ptx_type_bits(inst->type[0]) + 7) / 8 * (inst->vec ? inst->vec : 1);

    switch (inst->op) {
    case PTX_OP_APPLYPRIORITY:
        return 128;
    case PTX_OP_CP_ASYNC:
        return 16;
    case PTX_OP_CP_ASYNC_BULK:
    case PTX_OP_CP_REDUCE_ASYNC_BULK:
        return inst->ops[2].kind == PTX_OPND_IMM ? inst->ops[2].imm : CHECKER_BULK;
    default:
        return bytes ? bytes : 1;
    }
}

bool checker_is_store(const struct checker *c, const struct ptx_inst *inst)
{
    enum ptx_class class = ptx_op_class(inst->op);

    return !c->own &&
           (class == PTX_CLASS_STORE || class == PTX_CLASS_ATOM || class == PTX_CLASS_MATRIX_STORE);
}

/* ---- Instructions as text ---- */

/* The expected instructions, a line each, and a buffer for the printed form of one that is
 * compared. Names may be of any length: those of C++ templates have thousands of characters. */
struct wanted {
    char room[2 * MOST_TEXT], *text, *have;
    size_t length; /* length of the lines that are still to be compared, the last one first */
};

static bool wanted_init(struct wanted *wanted, const char *format, va_list arguments)
{
    va_list again;
    int n;

    va_copy(again, arguments);
    n = vsnprintf(wanted->room, MOST_TEXT, format, again);
    va_end(again);
    /* One byte more than the text and its NUL, so that a longer one is seen to differ. */
    const size_t size = (size_t)n + 2;
    wanted->text = wanted->room;
    if (n >= 0 && size > MOST_TEXT && (wanted->text = malloc(2 * size)))
        vsnprintf(wanted->text, size, format, arguments);
    if (n < 0 || !wanted->text)
        return false;
    wanted->have = wanted->text + (size > MOST_TEXT ? size : MOST_TEXT);
    wanted->length = (size_t)n;
    return true;
}

static void wanted_deinit(struct wanted *wanted)
{
    if (wanted->text != wanted->room)
        free(wanted->text);
}

/* Whether instruction I is the last of the remaining lines. If so, that line is removed. */
static bool is_last_line(const struct checker *c, uint32_t i, struct wanted *wanted)
{
    const char *newline = memrchr(wanted->text, '\n', wanted->length);
    const char *line = newline ? newline + 1 : wanted->text;
    const size_t length = wanted->length - (size_t)(line - wanted->text);

    ptx_inst_format(c->f, &c->f->insts[i], wanted->have, length + 2);
    if (strlen(wanted->have) != length || memcmp(wanted->have, line, length) != 0)
        return false;
    wanted->length = newline ? (size_t)(newline - wanted->text) : 0;
    return true;
}

bool checker_reads(const struct checker *c, uint32_t i, const char *format, ...)
{
    struct wanted wanted;
    va_list arguments;
    bool same;

    if (i >= c->f->ninsts)
        return false;
    va_start(arguments, format);
    same = wanted_init(&wanted, format, arguments) && is_last_line(c, i, &wanted) &&
           wanted.length == 0;
    va_end(arguments);
    wanted_deinit(&wanted);
    return same;
}

bool checker_precedes(const struct checker *c, uint32_t *i, const char *format, ...)
{
    struct wanted wanted;
    va_list arguments;
    uint32_t at = *i;
    bool same;

    if (!at || c->labelled[at])
        return false;
    va_start(arguments, format);
    same = wanted_init(&wanted, format, arguments);
    va_end(arguments);
    for (; same && wanted.length > 0; at--)
        same = at > 0 && !c->labelled[at] && is_last_line(c, at - 1, &wanted);
    if (same)
        *i = at;
    wanted_deinit(&wanted);
    return same;
}

bool checker_mentions(const struct ptx_operand *o, uint32_t reg)
{
    switch (o->kind) {
    case PTX_OPND_REG:
        return o->reg == reg;
    case PTX_OPND_MEM:
        return o->mem.base == PTX_BASE_REG && o->mem.reg == reg;
    case PTX_OPND_VEC:
    case PTX_OPND_LIST:
        for (uint32_t i = 0; i < o->count; i++)
            if (checker_mentions(&o->list[i], reg))
                return true;
        return false;
    default:
        return false;
    }
}

uint32_t checker_register(const struct checker *c, const char *name)
{
    const struct ptx_func *f = c->f;

    for (uint32_t i = 0; i < f->ndecls; i++)
        if (!f->decls[i].range && !f->decls[i].vec && !strcmp(f->decls[i].name, name))
            return f->decls[i].first;
    return PTX_NO_REG;
}

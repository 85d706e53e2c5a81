/* Instructions as text, for the checker of fences: see fence_check.h. */
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

bool checker_is_house(const char *name)
{
    return !strncmp(name, "gshare$", 7);
}

/* Names may be of any length: those of C++ templates have thousands of characters. */
static bool is_text(const struct checker *c, uint32_t i, const char *format, va_list arguments)
{
    char short_want[MOST_TEXT], short_have[MOST_TEXT], *want = short_want, *have = short_have;
    char *both = NULL;
    va_list again;
    bool same;
    int n;

    va_copy(again, arguments);
    n = vsnprintf(want, MOST_TEXT, format, again);
    va_end(again);
    /* A byte more than the wanted text and its end, so that a longer one differs. */
    const size_t size = (size_t)n + 2;
    if (n >= 0 && size > MOST_TEXT) {
        both = malloc(2 * size);
        if (!both)
            return false;
        want = both;
        have = both + size;
        vsnprintf(want, size, format, arguments);
    }
    ptx_inst_format(c->f, &c->f->insts[i], have, size);
    same = n >= 0 && !strcmp(want, have);
    free(both);
    return same;
}

bool checker_reads(const struct checker *c, uint32_t i, const char *format, ...)
{
    va_list arguments;
    bool same;

    if (i >= c->f->ninsts)
        return false;
    va_start(arguments, format);
    same = is_text(c, i, format, arguments);
    va_end(arguments);
    return same;
}

bool checker_precedes(const struct checker *c, uint32_t *i, const char *format, ...)
{
    va_list arguments;
    bool same;

    if (!*i || c->labelled[*i])
        return false;
    va_start(arguments, format);
    same = is_text(c, *i - 1, format, arguments);
    va_end(arguments);
    *i -= same;
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

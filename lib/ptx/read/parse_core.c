/* Used by all parts of the PTX reader: tokens, errors, scratch lists, names. One parser per call of
 * ptx_parse. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

#include "ptx/read/parse.h"

/* ---- errors ---- */

void token_clip(const struct token *tok, char *buf, size_t size)
{
    size_t n = tok->len < size - 4 ? tok->len : size - 4, i;

    for (i = 0; i < n; i++)
        buf[i] = isprint((unsigned char)tok->text[i]) ? tok->text[i] : '?';
    strcpy(buf + n, n < tok->len ? "..." : "");
}

static void fail_va(struct parser *p, int status, const struct token *at, const char *fmt,
                    va_list ap)
{
    if (p->status)
        return;
    p->status = status;
    p->err->line = at ? at->line : 0;
    p->err->column = at ? at->column : 0;
    vsnprintf(p->err->text, sizeof(p->err->text), fmt, ap);
}

bool parser_fail(struct parser *p, const struct token *at, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fail_va(p, -EINVAL, at, fmt, ap);
    va_end(ap);
    return false;
}

bool parser_fail_as(struct parser *p, int status, const struct token *at, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fail_va(p, status, at, fmt, ap);
    va_end(ap);
    return false;
}

bool parser_expected(struct parser *p, const char *what)
{
    const struct token *tok = &p->tok;
    char found[48];

    if (tok->kind == TOK_EOF)
        return parser_fail(p, tok, "expected %s, found the end of the text", what);
    if (tok->kind == TOK_BAD)
        return parser_fail(p, tok, "expected %s, found %s", what, tok->why);
    token_clip(tok, found, sizeof(found));
    if (tok->kind == TOK_STRING)
        return parser_fail(p, tok, "expected %s, found the string \"%s\"", what, found);
    return parser_fail(p, tok, "expected %s, found '%s%s'", what, tok->kind == TOK_DOT ? "." : "",
                       found);
}

/* ---- tokens ---- */

bool parser_next(struct parser *p)
{
    lexer_next(&p->lx, &p->tok);
    if (p->tok.kind == TOK_BAD)
        return parser_fail(p, &p->tok, "%s", p->tok.why);
    return true;
}

bool parser_accept(struct parser *p, int kind)
{
    if (p->status || p->tok.kind != kind)
        return false;
    parser_next(p);
    return true; /* a bad token behind is in p->status */
}

bool parser_need(struct parser *p, int kind, const char *what)
{
    if (p->tok.kind != kind)
        return parser_expected(p, what);
    return parser_next(p);
}

bool token_is(const struct token *tok, const char *text)
{
    return strlen(text) == tok->len && !memcmp(tok->text, text, tok->len);
}

bool parser_is_word(const struct parser *p, const char *word)
{
    return p->tok.kind == TOK_DOT && token_is(&p->tok, word);
}

/* ---- memory ---- */

bool parser_no_memory(struct parser *p, const struct token *at)
{
    if (arena_is_full(p->arena) || arena_is_full(p->syms.arena))
        return parser_fail_as(p, -E2BIG, at,
                              "the module needs more memory than its text justifies");
    return parser_fail_as(p, -ENOMEM, at, "no memory");
}

void *parser_alloc(struct parser *p, size_t bytes)
{
    void *mem = arena_alloc(p->arena, bytes ? bytes : 1);

    if (!mem)
        parser_no_memory(p, &p->tok);
    return mem;
}

char *parser_string(struct parser *p, const char *text, size_t len)
{
    char *s = arena_string(p->arena, text, len);

    if (!s)
        parser_no_memory(p, &p->tok);
    return s;
}

/* The limit for a scratch list, in bytes: three million instructions in one function, far more than
 * can be compiled. */
static const size_t LIST_MOST = 256u << 20;

void *list_add(struct parser *p, struct list *l, size_t size, size_t count)
{
    size_t need = (size_t)l->n + count, cap = l->cap;
    void *data;
    char *at;

    if (need > cap || !l->data) {
        cap = cap ? cap : 16;
        while (cap < need)
            cap *= 2;
        if (cap * size > LIST_MOST) {
            parser_fail_as(p, -E2BIG, &p->tok, "more than %zu bytes of one kind of thing",
                           LIST_MOST);
            return NULL;
        }
        data = realloc(l->data, cap * size);
        if (!data) {
            parser_no_memory(p, &p->tok);
            return NULL;
        }
        l->data = data;
        l->cap = (uint32_t)cap;
    }
    at = (char *)l->data + l->n * size;
    memset(at, 0, count * size);
    l->n += (uint32_t)count;
    return at;
}

bool list_keep(struct parser *p, struct list *l, size_t size, void *out)
{
    void *copy = NULL;

    if (l->n) {
        copy = parser_alloc(p, l->n * size);
        if (!copy)
            return false;
        memcpy(copy, l->data, l->n * size);
    }
    memcpy(out, &copy, sizeof(copy));
    l->n = 0;
    return true;
}

/* ---- names ---- */

struct sym *parser_declare(struct parser *p, enum sym_kind kind, const struct token *name,
                           const char *key, uint32_t len)
{
    enum sym_class class = kind == SYM_RANGE ? SYM_CLASS_RANGE : SYM_CLASS_NAME;
    struct sym *old = symtab_find(&p->syms, class, key, len), *s;
    char text[64];

    if (old && old->depth == p->syms.depth) {
        token_clip(name, text, sizeof(text));
        parser_fail(p, name, "'%s' is declared twice", text);
        return NULL;
    }
    s = symtab_add(&p->syms, kind, key, len, p->syms.depth);
    if (!s) {
        parser_no_memory(p, name);
        return NULL;
    }
    s->line = name->line;
    s->column = name->column;
    return s;
}

/* A name without its number: %r of %r12, so that %r<9> and %r12 count as one. */
static uint32_t stem_length(const char *name, uint32_t len)
{
    uint32_t n = len;

    while (n > 1 && name[n - 1] >= '0' && name[n - 1] <= '9')
        n--;
    return n;
}

static bool is_module_name(struct parser *p, const char *name, uint32_t len)
{
    struct sym *s = symtab_find(&p->syms, SYM_CLASS_NAME, name, len);

    return s && s->depth == 0;
}

/* Scopes inside a function are flattened, so a name in an inner scope may have to change: x becomes
 * x$1_. Names that are already unique stay, so that a printed module reads back unchanged. */
const char *parser_unique_name(struct parser *p, const struct token *name, bool range)
{
    uint32_t len = range ? name->len : stem_length(name->text, name->len);
    bool nested = p->syms.depth > 1;
    struct sym *stem = symtab_find(&p->syms, SYM_CLASS_STEM, name->text, len), *s;
    char *made;
    int n;

    if (!(nested ? stem != NULL : stem && stem->nested) &&
        !is_module_name(p, name->text, name->len)) {
        if (!stem)
            stem = symtab_add(&p->syms, SYM_STEM, name->text, len, 1);
        if (!stem) {
            parser_no_memory(p, name);
            return NULL;
        }
        stem->nested |= nested;
        return parser_string(p, name->text, name->len);
    }
    if (!stem) {
        stem = symtab_add(&p->syms, SYM_STEM, name->text, len, 1);
        if (!stem) {
            parser_no_memory(p, name);
            return NULL;
        }
        stem->nested = nested;
    }
    made = parser_alloc(p, (size_t)name->len + 16);
    if (!made)
        return NULL;
    do {
        n = sprintf(made, "%.*s$%u_", (int)name->len, name->text, ++stem->index);
    } while (symtab_find(&p->syms, SYM_CLASS_STEM, made, n) || is_module_name(p, made, n));
    s = symtab_add(&p->syms, SYM_STEM, made, n, 1);
    if (!s) {
        parser_no_memory(p, name);
        return NULL;
    }
    s->nested = nested;
    return made;
}

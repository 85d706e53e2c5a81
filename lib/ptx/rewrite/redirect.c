/* See redirect.h. */
#include "ptx/rewrite/redirect.h"

#include <ctype.h>
#include <string.h>

#include "ptx/read/lex.h"

/* The position in a declaration. */
enum position {
    AT_ANY,
    AT_EXTERN,    /* behind .extern */
    AT_FUNC,      /* behind .func: either the name or a list of return values follows */
    AT_RETURNS,   /* in that list */
    AT_PROTOTYPE, /* behind the name of a redirected declaration, before its ; */
};

struct walk {
    struct rewrite *rw;
    const struct redirect *redirects;
    unsigned count;
    const char *replaced; /* the end of the last replacement */
    enum position position;
    bool is_extern;
    const char *extern_at; /* the dot of the last .extern */
    bool declared[REDIRECTS_MAX];
    bool defined; /* the module defines a function with one of the names */
    unsigned uses;
    bool address_64;
    bool unread; /* a token that the walk does not know was found */
};

/* Replaces LEN bytes at AT by TEXT. If something behind AT was replaced already (one of the names
 * inside the declaration of the other), no compiler made the module. */
static void replace(struct walk *w, const char *at, size_t len, const char *text)
{
    size_t begin = (size_t)(at - w->rw->text);

    if (w->replaced && at < w->replaced) {
        w->unread = true;
        return;
    }
    edits_replace(&w->rw->edits, begin, begin + len, text);
    w->replaced = at + len;
}

static bool token_is(const struct token *t, int kind, const char *text)
{
    return t->kind == kind && t->len == strlen(text) && memcmp(t->text, text, t->len) == 0;
}

static int redirect_find(const struct walk *w, const struct token *t)
{
    for (unsigned i = 0; i < w->count; i++)
        if (token_is(t, TOK_IDENT, w->redirects[i].from))
            return (int)i;
    return -1;
}

/* Handles a name that is redirected: in a declaration, or in a use. Before its declaration the name
 * means something else; within another declaration, no compiler writes it. */
static void take_name(struct walk *w, const struct token *t, int name)
{
    if (w->position == AT_FUNC && !w->is_extern) {
        w->defined = true;
        return;
    }
    if (w->position == AT_FUNC) {
        w->declared[name] = true;
        replace(w, w->extern_at, strlen(".extern"), ".visible");
        w->position = AT_PROTOTYPE;
    } else if (w->declared[name]) {
        w->uses++;
    } else {
        w->unread |= w->position != AT_ANY;
        return;
    }
    replace(w, t->text, t->len, w->redirects[name].to);
}

static void take_token(struct walk *w, const struct token *t)
{
    switch (w->position) {
    case AT_ANY:
    case AT_EXTERN:
        if (token_is(t, TOK_DOT, "extern")) {
            w->position = AT_EXTERN;
            w->extern_at = t->text - 1;
        } else if (token_is(t, TOK_DOT, "func")) {
            w->is_extern = w->position == AT_EXTERN;
            w->position = AT_FUNC;
        } else {
            w->position = AT_ANY;
        }
        break;
    case AT_FUNC:
        w->position = t->kind == '(' ? AT_RETURNS : AT_ANY;
        break;
    case AT_RETURNS:
        if (t->kind == ')')
            w->position = AT_FUNC;
        break;
    case AT_PROTOTYPE:
        /* The definition has no .noreturn, and the declaration must agree with the definition. */
        if (token_is(t, TOK_DOT, "noreturn"))
            replace(w, t->text - 1, strlen(".noreturn"), "         ");
        if (t->kind == ';')
            w->position = AT_ANY;
        break;
    }
}

static void take_text(struct walk *w)
{
    struct lexer lexer;
    struct token t = {.kind = TOK_EOF};
    bool address_size = false;

    lexer_init(&lexer, w->rw->text, w->rw->len);
    for (lexer_next(&lexer, &t); t.kind != TOK_EOF && t.kind != TOK_BAD; lexer_next(&lexer, &t)) {
        int name = redirect_find(w, &t);

        if (address_size)
            w->address_64 = t.kind == TOK_INT && t.value == 64;
        address_size = token_is(&t, TOK_DOT, "address_size");
        if (name >= 0)
            take_name(w, &t, name);
        else
            take_token(w, &t);
    }
    lexer_deinit(&lexer);
    w->unread |= t.kind == TOK_BAD; /* the compiler shall refuse it, with its own message */
}

/* The functions' text, without the directives at the beginning of a module. */
static const char *functions_text(const char *device_ptx)
{
    static const char last[] = ".address_size 64";

    return strstr(device_ptx, last) + sizeof(last) - 1;
}

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool has_name(const char *text, size_t len, const char *name)
{
    const char *end = text + len, *at = text;

    while ((at = memmem(at, (size_t)(end - at), name, strlen(name)))) {
        bool begins = at == text || !is_of_name(at[-1]);

        at += strlen(name);
        if (begins && (at == end || !is_of_name(*at)))
            return true;
    }
    return false;
}

bool redirect_maybe(const char *text, size_t len, const struct redirect *redirects, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (has_name(text, len, redirects[i].from))
            return true;
    return false;
}

bool redirect_run(struct rewrite *rw, const struct redirect *redirects, unsigned count,
                  const char *device_ptx)
{
    struct walk w = {.rw = rw, .redirects = redirects, .count = count};

    take_text(&w);
    edits_insert(&rw->edits, rw->len, "\n");
    edits_insert(&rw->edits, rw->len, functions_text(device_ptx));
    return w.uses && !w.defined && !w.unread && w.address_64;
}

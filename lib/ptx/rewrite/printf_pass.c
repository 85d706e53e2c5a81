/* The pass over a module that prints: its calls of CUDA's vprintf and __assertfail go to functions
 * of the house's own (print_device.cu), which leave a record in memory that the tenant reads. In
 * the text
 *
 *     .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
 *     ...
 *     call.uni (r), vprintf, (f, a);
 *
 * the declaration's .extern becomes .visible, both names gshare$vprintf, and the functions' own
 * text comes behind the last line. What ends the kernel behind the printed assertion is the
 * driver's
 * __assertfail, or in a fenced module, where that one would read the tenant's pointers and end the
 * context, trap_pass.c.
 *
 * It works on tokens, not on the IR: it need not understand a module to rename two of its
 * functions, so it also serves modules that the reader cannot read. */
#include "ptx/printf_pass.h"

#include <string.h>

#include "ptx/read/lex.h"
#include "ptx/rewrite/pass.h"

extern const char print_device_ptx[];
__asm__(".section .rodata\n"
        ".global print_device_ptx\n"
        ".hidden print_device_ptx\n"
        ".type print_device_ptx, @object\n"
        "print_device_ptx:\n"
        ".incbin \"" PTX_FILE "\"\n"
        ".byte 0\n"
        ".size print_device_ptx, . - print_device_ptx\n"
        ".previous\n");

static const struct redirect {
    const char *from, *to;
    const char *fenced; /* in a fenced module, where trap_pass.c ends the thread behind the call */
} redirects[] = {
    {"vprintf", "gshare$vprintf", "gshare$vprintf"},
    {"__assertfail", "gshare$assertfail", "gshare$assertprint"},
};

/* The driver's own function ends the kernel, so the error is the one that CUDA has for it. */
#define ASSERT_PARAMS(c)                                                                           \
    "(.param .b64 " c "0, .param .b64 " c "1, .param .b32 " c "2, .param .b64 " c                  \
    "3, .param .b64 " c "4)"
static const char assertfail_text[] = "\n.extern .func __assertfail " ASSERT_PARAMS(
    "a") ";"
         "\n.visible .func gshare$assertfail " ASSERT_PARAMS(
             "b") "\n{ .reg .b32 %r; .reg .b64 %rd<4>;"
                  "\nld.param.b64 %rd0, [b0]; ld.param.b64 %rd1, [b1]; ld.param.b32 %r, [b2];"
                  "\nld.param.b64 %rd2, [b3]; ld.param.b64 %rd3, [b4];"
                  "\ncall gshare$assertprint, (%rd0, %rd1, %r, %rd2, %rd3);"
                  "\ncall __assertfail, (%rd0, %rd1, %r, %rd2, %rd3); trap; }\n";
enum { REDIRECTS = sizeof(redirects) / sizeof(redirects[0]) };

/* What the walk is in the middle of. */
enum place {
    PLACE_ANY,
    PLACE_EXTERN,    /* behind .extern */
    PLACE_FUNC,      /* behind .func: its name comes, or first the list of what it returns */
    PLACE_RETURNS,   /* in that list */
    PLACE_PROTOTYPE, /* behind the name of a declaration that was redirected, before its ; */
};

struct walk {
    struct rewrite *rw;
    const char *replaced; /* end of what was replaced last */
    enum place place;
    bool is_extern;
    const char *extern_at; /* the dot of the last .extern */
    bool declared[REDIRECTS];
    bool defined; /* one of the names is the module's own function */
    unsigned uses;
    bool address_64;
    bool unread; /* there is something that it does not know */
};

/* TEXT comes in the place of LEN bytes at AT. Where something behind AT was replaced already (one
 * of the names inside the declaration of the other), the module is none that a compiler makes. */
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

static int redirect_find(const struct token *t)
{
    for (int i = 0; i < REDIRECTS; i++)
        if (token_is(t, TOK_IDENT, redirects[i].from))
            return i;
    return -1;
}

static bool is_fenced(const struct walk *w)
{
    return w->rw->passes & PTX_PASS_FENCE;
}

/* A name that is redirected: as the function that is declared, or as one that is used. */
static void take_name(struct walk *w, const struct token *t, int name)
{
    if (w->place == PLACE_FUNC && !w->is_extern) {
        w->defined = true;
    } else if (w->place == PLACE_FUNC) {
        w->declared[name] = true;
        replace(w, w->extern_at, strlen(".extern"), ".visible");
        w->place = PLACE_PROTOTYPE;
    } else {
        w->uses += w->declared[name];
    }
    replace(w, t->text, t->len, is_fenced(w) ? redirects[name].fenced : redirects[name].to);
}

static void take_token(struct walk *w, const struct token *t)
{
    switch (w->place) {
    case PLACE_ANY:
    case PLACE_EXTERN:
        if (token_is(t, TOK_DOT, "extern")) {
            w->place = PLACE_EXTERN;
            w->extern_at = t->text - 1;
        } else if (token_is(t, TOK_DOT, "func")) {
            w->is_extern = w->place == PLACE_EXTERN;
            w->place = PLACE_FUNC;
        } else {
            w->place = PLACE_ANY;
        }
        break;
    case PLACE_FUNC:
        w->place = t->kind == '(' ? PLACE_RETURNS : PLACE_ANY;
        break;
    case PLACE_RETURNS:
        if (t->kind == ')')
            w->place = PLACE_FUNC;
        break;
    case PLACE_PROTOTYPE:
        /* The definition does not say it, and the two must agree. */
        if (token_is(t, TOK_DOT, "noreturn"))
            replace(w, t->text - 1, strlen(".noreturn"), "         ");
        if (t->kind == ';')
            w->place = PLACE_ANY;
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
        int name = redirect_find(&t);

        if (address_size)
            w->address_64 = t.kind == TOK_INT && t.value == 64;
        address_size = token_is(&t, TOK_DOT, "address_size");
        if (name >= 0)
            take_name(w, &t, name);
        else
            take_token(w, &t);
    }
    lexer_deinit(&lexer);
    w->unread |= t.kind == TOK_BAD; /* for the compiler to refuse, in its own words */
}

/* The functions, without the lines that begin a module. */
static const char *device_text(void)
{
    static const char last[] = ".address_size 64";

    return strstr(print_device_ptx, last) + sizeof(last) - 1;
}

bool printf_pass_maybe(const char *ptx, size_t len)
{
    for (int i = 0; i < REDIRECTS; i++)
        if (memmem(ptx, len, redirects[i].from, strlen(redirects[i].from)))
            return true;
    return false;
}

static bool run(struct rewrite *rw)
{
    struct walk w = {.rw = rw};

    take_text(&w);
    edits_insert(&rw->edits, rw->len, "\n");
    edits_insert(&rw->edits, rw->len, device_text());
    if (!is_fenced(&w))
        edits_insert(&rw->edits, rw->len, assertfail_text);
    rw->report->prints = w.uses && !w.defined && !w.unread && w.address_64;
    return rw->report->prints;
}

static void dropped(struct rewrite *rw)
{
    rw->report->prints = false;
}

const struct pass printf_pass_rules = {
    .bit = PTX_PASS_PRINTF, .maybe = printf_pass_maybe, .run = run, .dropped = dropped};

/* ptx_parse: the module level of the reader, and the life of a module. */
#include <stdlib.h>

#include "ptx/read/parse.h"

static const size_t ARENA_BASE = 64u << 20;
static const size_t ARENA_PER_BYTE = 16;

static bool parse_version(struct parser *p)
{
    const char *dot;
    char text[16];

    if (!parser_is_word(p, "version"))
        return parser_expected(p, ".version");
    if (!parser_next(p))
        return false;
    if (p->tok.kind != TOK_F64 || p->tok.len >= sizeof(text))
        return parser_expected(p, "a version such as 8.7");
    memcpy(text, p->tok.text, p->tok.len);
    text[p->tok.len] = 0;
    dot = strchr(text, '.');
    if (!dot || strspn(text, "0123456789.") != p->tok.len || strlen(text) > 5)
        return parser_expected(p, "a version such as 8.7");
    p->m->version_major = (uint8_t)atoi(text);
    p->m->version_minor = (uint8_t)atoi(dot + 1);
    if (p->m->version_major > 9 || (p->m->version_major == 9 && p->m->version_minor > 0))
        return parser_fail_as(p, -ENOTSUP, &p->tok,
                              "PTX ISA %s is newer than 9.0, the newest that is read", text);
    return parser_next(p);
}

/* .target sm_90a, texmode_independent, debug. "debug" is noted but not kept in the text: it
 * promises ptxas debug sections, and these are not kept. */
static bool parse_target(struct parser *p)
{
    char target[128];
    size_t len = 0;
    struct token first, word;
    unsigned i;

    if (!parser_is_word(p, "target"))
        return parser_expected(p, ".target");
    if (!parser_next(p))
        return false;
    first = p->tok;
    do {
        word = p->tok;
        if (!parser_need(p, TOK_IDENT, "a target such as sm_90"))
            return false;
        if (token_is(&word, "debug")) {
            p->m->debug = true;
            continue;
        }
        if (word.len > 3 && !memcmp(word.text, "sm_", 3)) {
            p->m->sm = 0;
            for (i = 3; i < word.len && word.text[i] >= '0' && word.text[i] <= '9' && i < 9; i++)
                p->m->sm = p->m->sm * 10 + (uint32_t)(word.text[i] - '0');
            p->m->sm_suffix = i < word.len ? word.text[i] : 0;
        }
        if (len + word.len + 3 > sizeof(target))
            return parser_fail(p, &word, "too many target options");
        len += (size_t)sprintf(target + len, "%s%.*s", len ? ", " : "", (int)word.len, word.text);
    } while (parser_accept(p, ','));
    if (p->status)
        return false;
    if (!p->m->sm)
        return parser_fail(p, &first, "expected a target such as sm_90");
    p->m->target = parser_string(p, target, len);
    return p->m->target != NULL;
}

static bool parse_address_size(struct parser *p)
{
    uint64_t size;

    if (!parser_next(p) || !parse_uint(p, 64, "an address size", &size))
        return false;
    if (size != 32 && size != 64)
        return parser_fail(p, &p->tok, "an address size of %u is neither 32 nor 64",
                           (unsigned)size);
    p->m->address_size = (uint8_t)size;
    return true;
}

static struct ptx_func *find_function(struct parser *p)
{
    struct sym *s = p->tok.kind == TOK_IDENT
                        ? symtab_find(&p->syms, SYM_CLASS_NAME, p->tok.text, p->tok.len)
                        : NULL;

    if (s && s->kind == SYM_FUNC)
        return s->ptr;
    parser_expected(p, "a declared function");
    return NULL;
}

static bool parse_alias(struct parser *p)
{
    struct ptx_func *alias, *of;
    struct token at;

    if (!parser_next(p))
        return false;
    at = p->tok;
    alias = find_function(p);
    if (!alias || !parser_next(p) || !parser_need(p, ',', "','"))
        return false;
    of = find_function(p);
    if (!of || !parser_next(p))
        return false;
    if (alias->has_body || alias->entry || of->entry || !of->has_body || of->alias)
        return parser_fail(p, &at, "an alias is of a function without a body for one with a body");
    if (alias->nparams != of->nparams || alias->nrets != of->nrets)
        return parser_fail(p, &at, "an alias has the parameters of the function it stands for");
    alias->alias = of;
    return parser_need(p, ';', "';'");
}

static bool parse_module_pragma(struct parser *p)
{
    const char **slot = list_add(p, &p->pragmas, sizeof(*slot), 1);
    uint32_t end;

    return slot && parse_pragma(p, slot, &end);
}

static bool parse_linked(struct parser *p)
{
    static const struct {
        const char *word;
        enum ptx_linkage linkage;
    } words[] = {{"extern", PTX_LINK_EXTERN},
                 {"visible", PTX_LINK_VISIBLE},
                 {"weak", PTX_LINK_WEAK},
                 {"common", PTX_LINK_COMMON}};
    enum ptx_linkage linkage = PTX_LINK_NONE;
    uint8_t space;
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (parser_is_word(p, words[i].word)) {
            linkage = words[i].linkage;
            if (!parser_next(p))
                return false;
            break;
        }
    }
    if (parser_is_word(p, "func") || parser_is_word(p, "entry")) {
        bool entry = parser_is_word(p, "entry");

        return parser_next(p) && parse_function(p, linkage, entry);
    }
    if (space_from_word(&p->tok, &space) && space != PTX_SPACE_REG && space != PTX_SPACE_PARAM)
        return parse_variable(p, linkage);
    return parser_expected(p, "a variable, a function or a module directive");
}

static bool parse_top(struct parser *p)
{
    /* The token of ".word" begins behind the dot. */
    p->statement = parser_offset(p) - (p->tok.kind == TOK_DOT);
    if (p->tok.kind == ';')
        return parser_next(p);
    if (parser_is_word(p, "address_size"))
        return parse_address_size(p);
    if (parser_is_word(p, "file"))
        return parse_file(p);
    if (parser_is_word(p, "section"))
        return parse_section(p);
    if (parser_is_word(p, "alias"))
        return parse_alias(p);
    if (parser_is_word(p, "pragma"))
        return parse_module_pragma(p);
    if (parser_is_word(p, "loc"))
        return parse_loc(p);
    return parse_linked(p);
}

static bool parse_module(struct parser *p)
{
    struct ptx_module *m = p->m;

    if (!parser_next(p) || !parse_version(p) || !parse_target(p))
        return false;
    m->address_size = 32; /* PTX's default */
    while (p->tok.kind != TOK_EOF)
        if (!parse_top(p) || p->status)
            return false;
    m->nvars = p->vars.n;
    m->nfuncs = p->funcs.n;
    m->npragmas = p->pragmas.n;
    return list_keep(p, &p->vars, sizeof(struct ptx_var *), &m->vars) &&
           list_keep(p, &p->funcs, sizeof(struct ptx_func *), &m->funcs) &&
           list_keep(p, &p->pragmas, sizeof(const char *), &m->pragmas);
}

static void parser_deinit(struct parser *p)
{
    struct list *lists[] = {&p->vars,  &p->funcs,  &p->pragmas, &p->decls,  &p->regs,
                            &p->fvars, &p->labels, &p->tables,  &p->protos, &p->insts,
                            &p->raws,  &p->bytes,  &p->relocs,  &p->tops};
    size_t i;

    for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        free(lists[i]->data);
    free(p->op_names);
    symtab_deinit(&p->syms);
    lexer_deinit(&p->lx);
}

static int parse_text(const char *text, size_t len, bool parts, struct ptx_module **out,
                      struct ptx_error *err)
{
    struct parser p = {.err = err, .parts = parts};

    memset(err, 0, sizeof(*err));
    len = strnlen(text, len);
    if (len > PTX_MAX_TEXT) {
        snprintf(err->text, sizeof(err->text), "a module of %zu bytes is larger than %u", len,
                 PTX_MAX_TEXT);
        return -E2BIG;
    }
    p.text = text;
    lexer_init(&p.lx, text, len);
    p.arena = arena_new(ARENA_BASE + ARENA_PER_BYTE * len);
    p.m = p.arena ? arena_alloc(p.arena, sizeof(*p.m)) : NULL;
    if (!p.m || !symtab_init(&p.syms) || !op_names_init(&p)) {
        parser_deinit(&p);
        arena_free(p.arena);
        snprintf(err->text, sizeof(err->text), "no memory");
        return -ENOMEM;
    }
    p.m->arena = p.arena;
    if (!parse_module(&p) && !p.status)
        parser_fail(&p, &p.tok, "the module cannot be read");
    if (p.status)
        ptx_module_free(p.m);
    else
        *out = p.m;
    parser_deinit(&p);
    return p.status;
}

int ptx_parse(const char *text, size_t len, struct ptx_module **out, struct ptx_error *err)
{
    return parse_text(text, len, false, out, err);
}

int ptx_parse_parts(const char *text, size_t len, struct ptx_module **out, struct ptx_error *err)
{
    return parse_text(text, len, true, out, err);
}

void ptx_module_free(struct ptx_module *m)
{
    if (m)
        arena_free(m->arena);
}

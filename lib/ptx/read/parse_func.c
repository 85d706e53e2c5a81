/* Functions: signature, parameters and the directives before the body. */
#include <stdlib.h>

#include "ptx/read/parse.h"

#define FUNC_PARAMS_MAX (1u << 24) /* bytes of a .func's parameters */
/* The most threads of a block, or blocks of a cluster; devices have 1,024. ptxas 13.0 divides by
 * zero if the product is just below 2^32. */
#define PRODUCT_MAX     (1u << 30)

static bool parse_three(struct parser *p, uint32_t out[3])
{
    struct token at;
    uint64_t v, most = PRODUCT_MAX;
    unsigned i;

    out[0] = out[1] = out[2] = 1;
    if (!parser_next(p))
        return false;
    for (i = 0; i < 3; i++) {
        at = p->tok;
        if (!parse_uint(p, most, "a dimension", &v))
            return false;
        if (!v)
            return parser_fail(p, &at, "expected a dimension of at least 1, found 0");
        out[i] = (uint32_t)v;
        most /= v;
        if (i < 2 && !parser_accept(p, ','))
            break;
    }
    return p->status == 0;
}

static bool parse_one(struct parser *p, uint32_t *out)
{
    uint64_t v;

    if (!parser_next(p) || !parse_uint(p, UINT32_MAX, "a number", &v))
        return false;
    *out = (uint32_t)v;
    return true;
}

/* Only an .entry may give sizes of blocks, and only a .func may be .noreturn. */
static bool is_in_place(struct parser *p, const struct ptx_func *f)
{
    bool sizes = parser_is_word(p, "maxntid") || parser_is_word(p, "reqntid") ||
                 parser_is_word(p, "minnctapersm") || parser_is_word(p, "maxnctapersm") ||
                 parser_is_word(p, "maxnreg") || parser_is_word(p, "explicitcluster") ||
                 parser_is_word(p, "reqnctapercluster") || parser_is_word(p, "maxclusterrank");

    if (f->entry ? parser_is_word(p, "noreturn") : sizes)
        return parser_fail(p, &p->tok, "expected this directive at %s",
                           f->entry ? "a .func" : "an .entry");
    if ((parser_is_word(p, "reqnctapercluster") && f->maxclusterrank) ||
        (parser_is_word(p, "maxclusterrank") && f->reqnctapercluster[0]))
        return parser_fail(p, &p->tok, "expected either .reqnctapercluster or .maxclusterrank");
    if ((parser_is_word(p, "maxntid") && f->reqntid[0]) ||
        (parser_is_word(p, "reqntid") && f->maxntid[0]))
        return parser_fail(p, &p->tok, "expected either .maxntid or .reqntid");
    return true;
}

/* Reads the directives between the parameters and the body. */
static bool parse_directives(struct parser *p, struct ptx_func *f)
{
    struct list pragmas = {0};
    const char **slot;
    uint32_t ignored, end;
    bool ok = true;

    while (ok && p->tok.kind == TOK_DOT) {
        if (!is_in_place(p, f))
            break;
        if (parser_is_word(p, "maxntid")) {
            ok = parse_three(p, f->maxntid);
        } else if (parser_is_word(p, "reqntid")) {
            ok = parse_three(p, f->reqntid);
        } else if (parser_is_word(p, "minnctapersm")) {
            ok = parse_one(p, &f->minnctapersm);
        } else if (parser_is_word(p, "maxnctapersm")) {
            ok = parse_one(p, &f->maxnctapersm);
        } else if (parser_is_word(p, "maxnreg")) {
            ok = parse_one(p, &f->maxnreg);
        } else if (parser_is_word(p, "explicitcluster")) {
            f->explicit_cluster = true;
            ok = parser_next(p);
        } else if (parser_is_word(p, "reqnctapercluster")) {
            ok = parse_three(p, f->reqnctapercluster);
        } else if (parser_is_word(p, "maxclusterrank")) {
            ok = parse_one(p, &f->maxclusterrank);
        } else if (parser_is_word(p, "blocksareclusters")) {
            ok = parser_fail_as(p, -ENOTSUP, &p->tok,
                                "grids of clusters (.blocksareclusters) are not supported");
        } else if (parser_is_word(p, "noreturn")) {
            f->noreturn = true;
            ok = parser_next(p);
        } else if (parser_is_word(p, "abi_preserve") || parser_is_word(p, "abi_preserve_control")) {
            ok = parse_one(p, &ignored);
        } else if (parser_is_word(p, "attribute")) {
            ok = parse_attribute(p, NULL);
        } else if (parser_is_word(p, "pragma")) {
            slot = list_add(p, &pragmas, sizeof(*slot), 1);
            ok = slot && parse_pragma(p, slot, &end);
        } else {
            ok = parser_expected(p, "a function directive, ';' or '{'");
        }
    }
    if (ok && pragmas.n) {
        f->npragmas = pragmas.n;
        ok = list_keep(p, &pragmas, sizeof(*slot), &f->pragmas);
    }
    free(pragmas.data);
    return ok && !p->status;
}

static bool layout_params(struct parser *p, const struct token *name, struct ptx_func *f)
{
    const uint32_t most = f->entry ? ptx_param_bytes_max(p->m) : FUNC_PARAMS_MAX;
    uint64_t at = 0;
    uint32_t i;

    for (i = 0; i < f->nparams; i++) {
        if (f->params[i]->space != PTX_SPACE_PARAM && f->entry)
            return parser_fail(p, name, "the parameters of an .entry are .param");
        if (f->entry && (f->params[i]->unsized || f->params[i]->vec))
            return parser_fail(p, name,
                               "'%.64s': a parameter of an .entry has a size and is no vector",
                               f->params[i]->name);
        if (f->params[i]->unsized && i != f->nparams - 1)
            return parser_fail(p, name, "'%.64s': only the last parameter may be without a size",
                               f->params[i]->name);
        if (f->params[i]->space != PTX_SPACE_PARAM)
            continue;
        at = (at + f->params[i]->align - 1) & ~((uint64_t)f->params[i]->align - 1);
        f->params[i]->offset = at;
        at += f->params[i]->size;
        if (at > most)
            return parser_fail_as(
                p, -E2BIG, name, "parameters of more than %u bytes%s", most,
                most < PTX_MAX_PARAM_BYTES ? "; .target sm_70 and .version 8.1 allow more" : "");
    }
    f->param_bytes = (uint32_t)at;
    return true;
}

static bool same_params(struct ptx_var *const *a, uint32_t na, struct ptx_var *const *b,
                        uint32_t nb)
{
    uint32_t i;

    if (na != nb)
        return false;
    for (i = 0; i < na; i++)
        if (a[i]->size != b[i]->size || a[i]->space != b[i]->space || a[i]->type != b[i]->type ||
            a[i]->align != b[i]->align || !a[i]->ndims != !b[i]->ndims ||
            a[i]->unsized != b[i]->unsized)
            return false;
    return true;
}

/* The function of that name, new or declared before. */
static struct ptx_func *find_or_add(struct parser *p, const struct token *name, bool entry)
{
    struct sym *s = symtab_find(&p->syms, SYM_CLASS_NAME, name->text, name->len);
    struct ptx_func *f, **slot;
    char text[64];

    token_clip(name, text, sizeof(text));
    if (s) {
        f = s->ptr;
        if (s->kind != SYM_FUNC || f->entry != entry) {
            parser_fail(p, name, "'%s' was declared as something else before", text);
            return NULL;
        }
        return f;
    }
    if (p->funcs.n >= PTX_MAX_FUNCS) {
        parser_fail_as(p, -E2BIG, name, "more than %u functions", PTX_MAX_FUNCS);
        return NULL;
    }
    f = parser_alloc(p, sizeof(*f));
    s = f ? parser_declare(p, SYM_FUNC, name, name->text, name->len) : NULL;
    slot = s ? list_add(p, &p->funcs, sizeof(*slot), 1) : NULL;
    if (!slot)
        return NULL;
    f->name = parser_string(p, name->text, name->len);
    f->entry = entry;
    f->id = p->funcs.n - 1;
    f->line = 0;
    *slot = s->ptr = f;
    return f->name ? f : NULL;
}

/* The parameters of F, if it has a list of them, and their place in the text. */
static bool parse_params(struct parser *p, const struct token *name, struct ptx_func *f,
                         struct ptx_func *sig)
{
    struct ptx_header *header = parser_alloc(p, sizeof(*header));

    if (!header)
        return false;
    header->first = header->at = (uint32_t)(name->text + name->len - p->text);
    header->list = p->tok.kind == '(';
    if (header->list)
        header->first = parser_offset(p) + 1;
    if (header->list && !parse_param_list(p, f, &sig->params, &sig->nparams, &header->at))
        return false;
    header->next = f->headers;
    f->headers = header;
    return true;
}

/* Reads what follows the name and the parameters: directives, and perhaps a body. */
static bool parse_rest(struct parser *p, const struct token *name, struct ptx_func *f,
                       enum ptx_linkage linkage)
{
    if (!parse_directives(p, f))
        return false;
    if (p->tok.kind == ';') {
        f->headers->end = parser_offset(p) + 1;
        return parser_next(p);
    }
    if (p->tok.kind != '{')
        return parser_expected(p, "a function directive, ';' or '{'");
    if (linkage == PTX_LINK_EXTERN)
        return parser_fail(p, name, "an .extern function has no body");
    if (!parse_body(p, f))
        return false;
    f->headers->end = f->body_end + 1;
    return true;
}

/* Drops what was made from a body that could not be read. */
static void drop_body(struct parser *p, struct ptx_func *f)
{
    while (p->syms.depth > 0)
        symtab_pop(&p->syms);
    p->f = NULL;
    p->depth = 0;
    p->lenient = false;
    p->raws.n = p->tops.n = p->bytes.n = p->relocs.n = 0;
    f->has_body = false;
    f->npragmas = 0;
    f->ndecls = f->nregs = f->nvars = f->nlabels = f->ntables = f->nprotos = f->ninsts = 0;
}

/* Continues behind the function, which could not be read; its directives begin at FROM and TOK.
 * False: its end is not found, and the error stays. */
static bool skip_rest(struct parser *p, struct ptx_func *f, const struct lexer *from,
                      const struct token *tok)
{
    struct ptx_error *unread = arena_alloc(p->arena, sizeof(*unread));
    const int status = p->status;
    const locale_t locale = p->lx.c_locale;
    uint32_t depth = 0;

    if (!unread)
        return false;
    *unread = *p->err;
    drop_body(p, f);
    p->lx = *from;
    p->lx.c_locale = locale;
    p->tok = *tok;
    while (p->tok.kind != TOK_EOF && p->tok.kind != TOK_BAD) {
        depth += p->tok.kind == '{';
        if (p->tok.kind == '}' && !depth)
            break;
        depth -= p->tok.kind == '}';
        if (!depth && (p->tok.kind == '}' || p->tok.kind == ';')) {
            p->status = 0;
            memset(p->err, 0, sizeof(*p->err));
            f->unread = unread;
            f->headers->end = parser_offset(p) + 1;
            return parser_next(p);
        }
        lexer_next(&p->lx, &p->tok);
    }
    p->status = status;
    return false;
}

bool parse_function(struct parser *p, enum ptx_linkage linkage, bool entry)
{
    const uint32_t begin = p->statement;
    struct ptx_func *f, sig = {0};
    struct lexer from;
    struct token tok;
    bool known;
    struct token name;
    uint32_t i;

    while (parser_is_word(p, "attribute"))
        if (!parse_attribute(p, NULL))
            return false;
    if (!entry && p->tok.kind == '(' && !parse_param_list(p, NULL, &sig.rets, &sig.nrets, NULL))
        return false;
    name = p->tok;
    if (!parser_need(p, TOK_IDENT, "a function name"))
        return false;
    f = find_or_add(p, &name, entry);
    if (!f)
        return false;
    if (!parse_params(p, &name, f, &sig))
        return false;
    if (f->line && (!same_params(f->params, f->nparams, sig.params, sig.nparams) ||
                    !same_params(f->rets, f->nrets, sig.rets, sig.nrets)))
        return parser_fail(p, &name, "function '%.64s' was declared with other parameters before",
                           f->name);
    for (i = 0; i < sig.nrets; i++) {
        sig.rets[i]->func = f;
        if (sig.nrets > 1 && sig.rets[i]->space == PTX_SPACE_PARAM)
            return parser_fail(p, &name, "more than one result must be in .reg");
    }
    if (!f->has_body) {
        f->rets = sig.rets;
        f->nrets = sig.nrets;
        f->params = sig.params;
        f->nparams = sig.nparams;
        if (!layout_params(p, &name, f))
            return false;
    }
    if (!f->line || linkage != PTX_LINK_EXTERN)
        f->linkage = (uint8_t)(linkage != PTX_LINK_NONE || !f->line ? linkage : f->linkage);
    f->line = name.line;
    f->headers->begin = begin;
    known = f->has_body || f->unread;
    from = p->lx;
    tok = p->tok;
    if (parse_rest(p, &name, f, linkage))
        return true;
    return p->parts && !known && (p->status == -EINVAL || p->status == -ENOTSUP) &&
           skip_rest(p, f, &from, &tok);
}

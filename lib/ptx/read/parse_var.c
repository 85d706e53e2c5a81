/* Variables and parameters: their declarations, and initialisers as bytes plus the addresses
 * that stand in them. */
#include <stdlib.h>

#include "ptx/read/parse.h"

#define CONST_BYTES_MAX (1u << 20)

bool space_from_word(const struct token *tok, uint8_t *space)
{
    static const struct {
        const char *word;
        uint8_t space;
    } words[] = {{"global", PTX_SPACE_GLOBAL}, {"shared", PTX_SPACE_SHARED},
                 {"local", PTX_SPACE_LOCAL},   {"const", PTX_SPACE_CONST},
                 {"param", PTX_SPACE_PARAM},   {"reg", PTX_SPACE_REG},
                 {"tex", PTX_SPACE_TEX},       {"shared::cta", PTX_SPACE_SHARED}};
    size_t i;

    if (tok->kind != TOK_DOT)
        return false;
    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (token_is(tok, words[i].word)) {
            *space = words[i].space;
            return true;
        }
    }
    return false;
}

bool type_is_declarable(enum ptx_type t)
{
    return (t >= PTX_T_B8 && t <= PTX_T_F16X2) || t == PTX_T_F32 || t == PTX_T_F64 ||
           t == PTX_T_PRED;
}

uint64_t var_element_size(const struct ptx_var *var)
{
    unsigned bits = ptx_type_bits(var->type);

    if (!bits) /* texref, samplerref, surfref: a 64-bit handle */
        bits = 64;
    return (uint64_t)(bits < 8 ? 8 : bits) / 8 * (var->vec ? var->vec : 1);
}

static bool parse_align(struct parser *p, uint32_t *align)
{
    struct token at;
    uint64_t v;

    if (!parser_next(p))
        return false;
    at = p->tok;
    if (!parse_uint(p, 1u << 20, "an alignment", &v))
        return false;
    if (v == 0 || v & (v - 1))
        return parser_fail(p, &at, "expected an alignment that is a power of two, found %llu",
                           (unsigned long long)v);
    *align = (uint32_t)v;
    return true;
}

/* Reads .ptr or .ptr .global .align 4, which say what a kernel's pointer parameter points to. */
static bool parse_ptr(struct parser *p, struct ptx_var *var)
{
    uint8_t space;

    var->is_ptr = true;
    if (!parser_next(p))
        return false;
    if (space_from_word(&p->tok, &space)) {
        var->ptr_space = space;
        if (!parser_next(p))
            return false;
    }
    return !parser_is_word(p, "align") || parse_align(p, &var->ptr_align);
}

bool parse_attribute(struct parser *p, struct ptx_var *var)
{
    uint64_t ignored;

    if (!parser_next(p) || !parser_need(p, '(', "'('"))
        return false;
    while (p->tok.kind != ')') {
        if (parser_is_word(p, "managed") && var) {
            var->managed = true;
            if (!parser_next(p))
                return false;
        } else if (parser_is_word(p, "unified")) {
            if (!parser_next(p) || !parser_need(p, '(', "'('") || !parse_const_int(p, &ignored) ||
                !parser_need(p, ',', "','") || !parse_const_int(p, &ignored) ||
                !parser_need(p, ')', "')'"))
                return false;
        } else {
            return parser_expected(p, ".managed or .unified");
        }
        if (p->tok.kind != ')' && !parser_need(p, ',', "',' or ')'"))
            return false;
    }
    return parser_next(p);
}

/* Everything between the space and the name: .align 8 .v4 .f32 and the like, in any order that
 * compilers write. */
static bool parse_type_words(struct parser *p, struct ptx_var *var)
{
    enum ptx_type type;

    while (p->tok.kind == TOK_DOT) {
        if (parser_is_word(p, "align")) {
            if (!parse_align(p, &var->align))
                return false;
            continue;
        }
        if (parser_is_word(p, "attribute")) {
            if (!parse_attribute(p, var))
                return false;
            continue;
        }
        if (parser_is_word(p, "ptr")) {
            if (!parse_ptr(p, var))
                return false;
            continue;
        }
        type = ptx_type_find(p->tok.text, p->tok.len);
        if (parser_is_word(p, "v2") || parser_is_word(p, "v4") || parser_is_word(p, "v8"))
            var->vec = (uint8_t)(p->tok.text[1] - '0');
        else if (type && !var->type)
            var->type = type;
        else
            return parser_expected(p, "a type or a name");
        if (!parser_next(p))
            return false;
    }
    if (!var->type)
        return parser_expected(p, "a type");
    if (var->vec == 8 || var->vec * ptx_type_bits(var->type) > 128)
        return parser_fail(p, &p->tok, "a vector of more than 4 elements or 128 bits");
    if (!type_is_declarable(var->type) && var->type != PTX_T_TEXREF &&
        var->type != PTX_T_SAMPLERREF && var->type != PTX_T_SURFREF)
        return parser_fail(p, &p->tok, "no variable can be .%s", ptx_type_name(var->type));
    return true;
}

/* [3][4], or [] for an array whose size is not given. */
static bool parse_dims(struct parser *p, struct ptx_var *var, const struct token *at)
{
    struct list dims = {0};
    uint64_t size = var_element_size(var), *d;
    bool ok = false;

    while (p->tok.kind == '[') {
        d = list_add(p, &dims, sizeof(*d), 1);
        if (!d || !parser_next(p))
            goto out;
        if (dims.n > 16) {
            parser_fail_as(p, -E2BIG, &p->tok, "an array of more than 16 dimensions");
            goto out;
        }
        if (p->tok.kind == ']' && dims.n == 1)
            var->unsized = true;
        else if (!parse_uint(p, PTX_MAX_VAR_BYTES, "an array size", d))
            goto out;
        if (!parser_need(p, ']', "']'"))
            goto out;
        d = (uint64_t *)dims.data + dims.n - 1;
        if (dims.n > 1 || !var->unsized) {
            if (*d && size > PTX_MAX_VAR_BYTES / *d) {
                parser_fail_as(p, -E2BIG, at, "a variable of more than %llu bytes",
                               PTX_MAX_VAR_BYTES);
                goto out;
            }
            size *= *d;
        }
    }
    var->ndims = (uint8_t)dims.n;
    var->size = var->unsized ? 0 : size;
    ok = list_keep(p, &dims, sizeof(*d), &var->dims);
out:
    free(dims.data);
    return ok;
}

static uint32_t natural_align(const struct ptx_var *var)
{
    uint64_t size = var_element_size(var);

    return size > 32 ? 32 : (uint32_t)size;
}

/* Reads the name and its dimensions. */
static bool parse_declarator(struct parser *p, struct ptx_var *var)
{
    struct token name = p->tok;

    if (name.kind != TOK_IDENT)
        return parser_expected(p, "a name");
    var->line = name.line;
    if (!parser_next(p) || !parse_dims(p, var, &name))
        return false;
    if (!var->align)
        var->align = natural_align(var);
    var->name = p->f ? parser_unique_name(p, &name, false) : parser_string(p, name.text, name.len);
    return var->name != NULL;
}

/* A variable may be declared .extern before its definition; both are the same one. */
static bool merge_declaration(struct parser *p, const struct token *name, struct ptx_var *old,
                              struct ptx_var *var)
{
    char text[64];

    token_clip(name, text, sizeof(text));
    if (old->space != var->space || old->type != var->type || old->vec != var->vec ||
        (old->size != var->size && !old->unsized && !var->unsized))
        return parser_fail(p, name, "'%s' was declared differently before", text);
    if (old->linkage != PTX_LINK_EXTERN && var->linkage != PTX_LINK_EXTERN)
        return parser_fail(p, name, "'%s' is declared twice", text);
    if (old->linkage == PTX_LINK_EXTERN && var->linkage != PTX_LINK_EXTERN) {
        old->linkage = var->linkage;
        old->unsized = var->unsized;
        old->ndims = var->ndims;
        old->dims = var->dims;
        old->size = var->size;
        old->managed |= var->managed;
    }
    if (var->align > old->align)
        old->align = var->align;
    return true;
}

static bool add_variable(struct parser *p, const struct token *name, struct ptx_var **var)
{
    struct list *all = p->f ? &p->fvars : &p->vars;
    struct sym *s = symtab_find(&p->syms, SYM_CLASS_NAME, name->text, name->len);
    struct ptx_var **slot;

    if (s && s->kind == SYM_VAR && s->depth == p->syms.depth && !p->f) {
        if (!merge_declaration(p, name, s->ptr, *var))
            return false;
        *var = s->ptr;
        return true;
    }
    s = parser_declare(p, SYM_VAR, name, name->text, name->len);
    slot = s ? list_add(p, all, sizeof(*slot), 1) : NULL;
    if (!slot)
        return false;
    s->ptr = *slot = *var;
    (*var)->id = all->n - 1;
    (*var)->func = p->f;
    return true;
}

/* A module has 64 KiB of constants. The compiler only reports an excess after filling memory with
 * them: ptxas 13.0 takes 4 GiB for a variable of 4 GiB. This check limits the compiler's memory; it
 * checks the 64 KiB itself. */
static bool count_constants(struct parser *p, const struct token *name, const struct ptx_var *var)
{
    p->const_bytes += (var->size + var->align - 1) / var->align * var->align;
    return p->const_bytes <= CONST_BYTES_MAX ||
           parser_fail_as(p, -E2BIG, name, "more than %u bytes of constants", CONST_BYTES_MAX);
}

bool parse_variable(struct parser *p, enum ptx_linkage linkage)
{
    struct ptx_var shared_part = {.linkage = linkage}, *var;
    struct token name;
    uint64_t bank;

    space_from_word(&p->tok, &shared_part.space);
    if (!parser_next(p))
        return false;
    if (p->tok.kind == '[') { /* .const[0], from when there were banks */
        if (!parser_next(p) || !parse_uint(p, 0, "a bank", &bank) || !parser_need(p, ']', "']'"))
            return false;
    }
    if (!parse_type_words(p, &shared_part))
        return false;
    if (shared_part.type == PTX_T_PRED)
        return parser_fail(p, &p->tok, "a variable in memory cannot be .pred");
    do {
        var = parser_alloc(p, sizeof(*var));
        if (!var)
            return false;
        *var = shared_part;
        name = p->tok;
        if (!parse_declarator(p, var) || !add_variable(p, &name, &var))
            return false;
        if (p->tok.kind == '=') {
            if (var->init || linkage == PTX_LINK_EXTERN)
                return parser_fail(p, &p->tok,
                                   var->init ? "a second initialiser"
                                             : "an .extern variable has no initialiser");
            if (!parse_initialiser(p, var))
                return false;
        }
        if (var->unsized && linkage != PTX_LINK_EXTERN && var->linkage != PTX_LINK_EXTERN)
            return parser_fail(p, &name, "an array without a size must be .extern");
        if (!var->size && !var->unsized)
            return parser_fail(p, &name, "a variable of no bytes");
        if (var->space == PTX_SPACE_CONST && linkage != PTX_LINK_EXTERN &&
            !count_constants(p, &name, var))
            return false;
    } while (parser_accept(p, ','));
    return parser_need(p, ';', "',' or ';'");
}

static bool parse_param(struct parser *p, struct ptx_var **out)
{
    struct ptx_var *var = parser_alloc(p, sizeof(*var));
    uint8_t space;

    if (!var)
        return false;
    if (!space_from_word(&p->tok, &space) || (space != PTX_SPACE_PARAM && space != PTX_SPACE_REG))
        return parser_expected(p, ".param or .reg");
    var->space = space;
    if (!parser_next(p) || !parse_type_words(p, var))
        return false;
    if (var->type == PTX_T_PRED && space == PTX_SPACE_PARAM)
        return parser_fail(p, &p->tok, "a .param cannot be .pred");
    var->line = p->tok.line;
    if (p->tok.kind != TOK_IDENT)
        return parser_expected(p, "a parameter's name");
    var->name = parser_string(p, p->tok.text, p->tok.len);
    if (!var->name || !parser_next(p) || !parse_dims(p, var, &p->tok))
        return false;
    if (space == PTX_SPACE_REG && (var->ndims || var->vec))
        return parser_fail(p, &p->tok, "a .reg parameter cannot be an array or a vector");
    if (!var->align)
        var->align = natural_align(var);
    *out = var;
    return true;
}

bool parse_param_list(struct parser *p, struct ptx_func *f, struct ptx_var ***out, uint32_t *count,
                      uint32_t *end)
{
    struct list all = {0};
    struct ptx_var *var = NULL, **slot;
    bool ok = false;

    if (!parser_next(p))
        return false;
    while (p->tok.kind != ')') {
        if (all.n >= PTX_MAX_PARAMS) {
            parser_fail_as(p, -E2BIG, &p->tok, "more than %d parameters", PTX_MAX_PARAMS);
            goto out;
        }
        if (!parse_param(p, &var))
            goto out;
        slot = list_add(p, &all, sizeof(*slot), 1);
        if (!slot)
            goto out;
        *slot = var;
        var->id = all.n - 1;
        var->func = f;
        if (p->tok.kind != ')' && !parser_need(p, ',', "',' or ')'"))
            goto out;
    }
    *count = all.n;
    if (end)
        *end = parser_offset(p);
    ok = parser_next(p) && list_keep(p, &all, sizeof(*slot), out);
out:
    free(all.data);
    return ok;
}

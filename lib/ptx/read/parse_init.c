/* Initialisers of variables: bytes, and the addresses in them. */
#include "ptx/read/parse.h"

static bool put_bytes(struct parser *p, uint64_t offset, uint64_t value, unsigned bytes)
{
    unsigned char *data;
    uint64_t end = offset + bytes;
    unsigned i;

    if (end > p->bytes.n) {
        if (end > PTX_MAX_TEXT)
            return parser_fail_as(p, -E2BIG, &p->tok, "an initialiser of more than %u bytes",
                                  PTX_MAX_TEXT);
        if (!list_add(p, &p->bytes, 1, end - p->bytes.n))
            return false;
    }
    data = (unsigned char *)p->bytes.data + offset;
    for (i = 0; i < bytes && i < 8; i++)
        data[i] = (unsigned char)(value >> (8 * i));
    return true;
}

static bool parse_symbol_name(struct parser *p, struct ptx_reloc *r)
{
    struct sym *s;
    char name[64];

    if (p->tok.kind != TOK_IDENT)
        return parser_expected(p, "a variable or function");
    s = symtab_find(&p->syms, SYM_CLASS_NAME, p->tok.text, p->tok.len);
    if (s && s->kind == SYM_VAR) {
        r->var = s->ptr;
    } else if (s && s->kind == SYM_FUNC) {
        r->func = s->ptr;
    } else {
        token_clip(&p->tok, name, sizeof(name));
        return parser_fail(p, &p->tok, "'%s' is not declared as a variable or function", name);
    }
    if (r->func && r->generic)
        return parser_fail(p, &p->tok, "expected a variable in generic(), found a function");
    if (r->var && r->var->space == PTX_SPACE_SHARED)
        return parser_fail(p, &p->tok, "a .shared variable has no address before its block runs");
    if (!parser_next(p))
        return false;
    if (p->tok.kind != '+' && p->tok.kind != '-')
        return true;
    if (r->func)
        return parser_expected(p, "',' or ';' behind a function's address");
    return parse_const_int(p, (uint64_t *)&r->addend);
}

/* Reads symbol or generic(symbol), each with +offset; or after a mask: (symbol). */
static bool parse_address(struct parser *p, struct ptx_reloc *r)
{
    bool generic = p->tok.kind == TOK_IDENT && token_is(&p->tok, "generic");
    uint64_t more = 0;

    if (!generic)
        return parse_symbol_name(p, r);
    r->generic = true;
    if (!parser_next(p) || !parser_need(p, '(', "'('") || !parse_symbol_name(p, r) ||
        !parser_need(p, ')', "')'"))
        return false;
    if (p->tok.kind == '+' || p->tok.kind == '-') {
        if (!parse_const_int(p, &more))
            return false;
        r->addend = (int64_t)((uint64_t)r->addend + more);
    }
    return true;
}

/* Reads 0xFF00(symbol), which is one byte of an address. */
static bool parse_mask(struct parser *p, uint64_t mask, const struct token *at, struct ptx_reloc *r)
{
    if (mask == 0 || mask >> (__builtin_ctzll(mask) & ~7) != 0xFF)
        return parser_fail(p, at, "expected a mask of one byte such as 0xFF00 before '('");
    r->size = 1;
    r->shift = (uint8_t)__builtin_ctzll(mask);
    return parser_need(p, '(', "'('") && parse_address(p, r) && parser_need(p, ')', "')'");
}

static bool parse_element(struct parser *p, struct ptx_var *var, uint64_t offset)
{
    struct ptx_reloc r = {.offset = offset}, *kept;
    unsigned bytes = ptx_type_bits(var->type) / 8;
    struct token value, at = p->tok;
    uint64_t bits = 0;

    if (bytes == 0)
        return parser_fail_as(p, -ENOTSUP, &at, "an initialiser of a .%s is not supported",
                              ptx_type_name(var->type));
    if (var->type == PTX_T_F16 || var->type == PTX_T_F16X2)
        return parser_fail(p, &at, "a .%s cannot have an initialiser", ptx_type_name(var->type));
    if (p->tok.kind == TOK_IDENT && !token_is(&p->tok, "WARP_SZ")) {
        if (var->type != PTX_T_U32 && var->type != PTX_T_U64)
            return parser_fail(p, &at, "an address does not fit in .%s", ptx_type_name(var->type));
        r.size = (uint8_t)bytes;
        if (!parse_address(p, &r))
            return false;
    } else {
        if (!parse_const(p, &value))
            return false;
        if (value.kind == TOK_INT && p->tok.kind == '(') {
            if (var->type < PTX_T_U8 || var->type > PTX_T_U64)
                return parser_fail(p, &at, "an address does not fit in .%s",
                                   ptx_type_name(var->type));
            if (!parse_mask(p, value.value, &at, &r))
                return false;
        } else if (!const_to_type(p, &value, var->type, &bits)) {
            return false;
        }
    }
    if (r.size) {
        kept = list_add(p, &p->relocs, sizeof(r), 1);
        if (!kept)
            return false;
        *kept = r;
    }
    return put_bytes(p, offset, bits, bytes);
}

static bool parse_braces(struct parser *p, struct ptx_var *var, unsigned level, uint64_t *at,
                         uint64_t end);

/* Reads one value, or one inner level of braces. */
static bool parse_item(struct parser *p, struct ptx_var *var, unsigned level, uint64_t inner,
                       uint64_t *at, uint64_t end)
{
    uint64_t unit = var_element_size(var) / (var->vec ? var->vec : 1);
    bool row = p->tok.kind == '{';

    if ((row ? inner : unit) > end - *at)
        return parser_fail(p, &p->tok, "more values than the variable has room for");
    if (row)
        return parse_braces(p, var, level + 1, at, *at + inner);
    if (!parse_element(p, var, *at))
        return false;
    *at += unit;
    return true;
}

/* Reads one brace level, up to END. A row that ends early is not padded: the next value follows
 * immediately, as in ptxas. */
static bool parse_braces(struct parser *p, struct ptx_var *var, unsigned level, uint64_t *at,
                         uint64_t end)
{
    unsigned levels = var->ndims + (var->vec ? 1u : 0u), i;
    uint64_t inner = var_element_size(var);

    if (level >= levels)
        return parser_fail(p, &p->tok, "more braces than the variable has dimensions");
    if (!parser_next(p))
        return false;
    for (i = level + 1; i < var->ndims; i++)
        inner *= var->dims[i];
    while (p->tok.kind != '}') {
        if (!parse_item(p, var, level, inner, at, end))
            return false;
        if (p->tok.kind != '}' && !parser_need(p, ',', "',' or '}'"))
            return false;
    }
    return parser_next(p);
}

bool parse_initialiser(struct parser *p, struct ptx_var *var)
{
    struct token at = p->tok;
    bool sized_by_it = var->unsized;
    uint64_t row, at_byte = 0;
    unsigned i;
    bool ok;

    if (!parser_next(p))
        return false;
    if (var->space != PTX_SPACE_GLOBAL && var->space != PTX_SPACE_CONST)
        return parser_fail(p, &at, "only .global and .const variables may have an initialiser");
    p->bytes.n = p->relocs.n = 0;
    if (sized_by_it)
        var->size = PTX_MAX_TEXT;
    if (p->tok.kind == '{')
        ok = parse_braces(p, var, 0, &at_byte, var->size);
    else if (var->ndims || var->vec)
        return parser_expected(p, "'{'");
    else
        ok = parse_element(p, var, 0);
    if (!ok)
        return false;
    if (var->vec && p->bytes.n % var_element_size(var))
        return parser_fail(p, &at, "expected all %u values of a .v%u", var->vec, var->vec);
    if (sized_by_it) {
        row = var_element_size(var);
        for (i = 1; i < var->ndims; i++)
            row *= var->dims[i];
        var->dims[0] = row ? (p->bytes.n + row - 1) / row : 0;
        var->size = var->dims[0] * row;
        var->unsized = false;
    }
    var->ninit = p->bytes.n;
    var->nrelocs = p->relocs.n;
    return list_keep(p, &p->bytes, 1, &var->init) &&
           list_keep(p, &p->relocs, sizeof(struct ptx_reloc), &var->relocs);
}

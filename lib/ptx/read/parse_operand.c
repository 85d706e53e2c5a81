/* Operands as written, before the instruction's form is known: names are resolved, constants
 * computed. */
#include "ptx/read/parse.h"

/* ---- names ---- */

/* Finds %r12 of .reg %r<100>. The number may be split off in several ways (%r1<10> and %r<100>):
 * the longest number first. */
static struct sym *find_in_range(struct parser *p, const char *name, uint32_t len, uint32_t *number)
{
    uint32_t digits = 0, n, i;
    struct sym *s;

    while (digits < len - 1 && digits < 7 && name[len - digits - 1] >= '0' &&
           name[len - digits - 1] <= '9')
        digits++;
    for (; digits > 0; digits--) {
        if (digits > 1 && name[len - digits] == '0')
            continue;
        for (n = 0, i = len - digits; i < len; i++)
            n = n * 10 + (uint32_t)(name[i] - '0');
        s = symtab_find(&p->syms, SYM_CLASS_RANGE, name, len - digits);
        if (s && n < s->count) {
            *number = n;
            return s;
        }
    }
    return NULL;
}

/* Whether a range in this scope has NAME among its registers. */
bool parser_in_range(struct parser *p, const struct token *name)
{
    uint32_t number;
    struct sym *s = find_in_range(p, name->text, name->len, &number);

    return s && s->depth == p->syms.depth;
}

static bool find_sreg(const char *name, uint32_t len, struct ptx_operand *o)
{
    uint32_t digits = 0, number = 0, i;
    enum ptx_sreg s;
    const char *known;

    if (name[0] != '%')
        return false;
    while (digits < 2 && digits + 1 < len && name[len - digits - 1] >= '0' &&
           name[len - digits - 1] <= '9')
        digits++;
    for (s = PTX_SREG_NONE + 1; s < PTX_SREG_COUNT; s++) {
        known = ptx_sreg_name(s);
        if (known[1] != name[1])
            continue;
        if (strlen(known) == len && !memcmp(known, name, len))
            break;
        if (digits && (s == PTX_SREG_ENVREG || s == PTX_SREG_PM) && strlen(known) == len - digits &&
            !memcmp(known, name, len - digits)) {
            for (i = len - digits; i < len; i++)
                number = number * 10 + (uint32_t)(name[i] - '0');
            break;
        }
        /* the names %pm0_64 to %pm7_64 */
        if (s == PTX_SREG_PM64 && len == 7 && !memcmp(name, "%pm", 3) &&
            !memcmp(name + 4, "_64", 3) && name[3] >= '0' && name[3] <= '7') {
            number = (uint32_t)(name[3] - '0');
            break;
        }
    }
    if (s == PTX_SREG_COUNT || number > 31)
        return false;
    o->sreg = s;
    o->index = (uint8_t)number;
    return true;
}

/* Resolves NAME into R. An unknown name becomes RAW_NAME: a label further on, or a mistake. */
static void resolve(struct parser *p, const char *name, uint32_t len, struct raw *r)
{
    struct sym *s = symtab_find(&p->syms, SYM_CLASS_NAME, name, len), *range;
    uint32_t number = 0;

    range = find_in_range(p, name, len, &number);
    if (range && (!s || range->depth > s->depth)) {
        r->kind = RAW_REG;
        r->o.reg = range->index + number;
        return;
    }
    if (!s) {
        r->kind = find_sreg(name, len, &r->o) ? RAW_SREG : RAW_NAME;
        return;
    }
    switch ((enum sym_kind)s->kind) {
    case SYM_VAR:
        r->kind = RAW_SYM;
        r->o.sym.var = s->ptr;
        r->o.sym.offset = 0;
        break;
    case SYM_FUNC:
        r->kind = RAW_FUNC;
        r->o.func = s->ptr;
        break;
    case SYM_REG:
        r->kind = s->count ? RAW_VECREG : RAW_REG;
        r->o.reg = s->index;
        r->count = s->count;
        break;
    case SYM_TABLE:
        r->kind = RAW_TABLE;
        r->o.table = s->index;
        break;
    case SYM_PROTO:
        r->kind = RAW_PROTO;
        r->o.proto = s->ptr;
        break;
    case SYM_LABEL:
    case SYM_RANGE:
    case SYM_STEM:
        r->kind = RAW_NAME;
        break;
    }
}

/* Reads .b0, .h1, .b7430, .h32 or .b20 behind a register: see enum ptx_sel. */
static bool parse_selector(const char *text, uint32_t len, uint16_t *sel)
{
    unsigned bits = 0, i, c;

    if (len == 2 && text[0] == 'b' && text[1] >= '0' && text[1] <= '3') {
        *sel = (uint16_t)(PTX_SEL_B0 + text[1] - '0');
        return true;
    }
    if (len == 2 && text[0] == 'h' && text[1] >= '0' && text[1] <= '1') {
        *sel = (uint16_t)(PTX_SEL_H0 + text[1] - '0');
        return true;
    }
    if ((len == 5 && text[0] == 'b') || (len == 3 && text[0] == 'h')) {
        for (i = 1; i < len; i++) {
            c = (unsigned)(text[i] - '0');
            if (c > (text[0] == 'b' ? 7u : 3u))
                return false;
            bits = bits << 3 | c;
        }
        *sel = (uint16_t)(bits | (text[0] == 'b' ? PTX_SEL_BYTES : PTX_SEL_HALVES));
        return true;
    }
    if (text[0] != 'b' || len < 3 || len > 4)
        return false;
    for (i = 1; i < len; i++) {
        if (text[i] < '0' || text[i] > '3' || (i > 1 && text[i] >= text[i - 1]))
            return false;
        bits |= 1u << (text[i] - '0');
    }
    *sel = (uint16_t)(bits | PTX_SEL_MASK);
    return true;
}

static bool parse_suffix(struct parser *p, struct raw *r, const char *suffix, uint32_t len)
{
    static const char xyzw[] = "xyzwrgba";
    const char *at;
    char name[48];

    if (r->kind == RAW_VECREG && len == 1) {
        at = strchr(xyzw, suffix[0]);
        if (at && (unsigned)(at - xyzw) % 4 < r->count) {
            r->kind = RAW_REG;
            r->o.reg += (uint32_t)(at - xyzw) % 4;
            return true;
        }
    }
    if (r->kind == RAW_REG && parse_selector(suffix, len, &r->sel))
        return true;
    token_clip(&r->tok, name, sizeof(name));
    if (r->kind == RAW_NAME)
        return parser_fail(p, &r->tok, "'%s' is not declared", name);
    return parser_fail(p, &r->tok, "'%s' does not have that part", name);
}

/* At a name: a register, special register, symbol+offset, label ... */
static bool parse_name(struct parser *p, struct raw *r)
{
    const char *dot;
    uint32_t base;

    if (lexer_peek(&p->lx) == '.')
        lexer_extend_mnemonic(&p->lx, &p->tok);
    r->tok = p->tok;
    dot = memchr(r->tok.text, '.', r->tok.len);
    base = dot ? (uint32_t)(dot - r->tok.text) : r->tok.len;
    if (dot && find_sreg(r->tok.text, r->tok.len, &r->o)) {
        r->kind = RAW_SREG;
    } else {
        resolve(p, r->tok.text, base, r);
        if (dot && !parse_suffix(p, r, dot + 1, r->tok.len - base - 1))
            return false;
    }
    if (!parser_next(p))
        return false;
    if (r->kind == RAW_SYM && (p->tok.kind == '+' || p->tok.kind == '-'))
        return parse_const_int(p, (uint64_t *)&r->o.sym.offset);
    return true;
}

/* ---- operands as written ---- */

static bool is_constant_start(const struct token *tok)
{
    return tok->kind == TOK_INT || tok->kind == TOK_F32 || tok->kind == TOK_F64 ||
           tok->kind == '-' || tok->kind == '+' || tok->kind == '(' || tok->kind == '~' ||
           tok->kind == '!' || (tok->kind == TOK_IDENT && token_is(tok, "WARP_SZ"));
}

static bool parse_prefixed(struct parser *p, struct raw *r);

/* Parses a register, a constant, a symbol or '_', which may stand in a brace list too. */
static bool parse_simple(struct parser *p, struct raw *r)
{
    r->tok = p->tok;
    if (p->tok.kind == '!' || p->tok.kind == '-')
        return parse_prefixed(p, r);
    if (is_constant_start(&p->tok)) {
        r->kind = RAW_NUMBER;
        return parse_const(p, &r->tok);
    }
    if (p->tok.kind != TOK_IDENT)
        return parser_expected(p, "an operand");
    if (token_is(&p->tok, "_")) {
        r->kind = RAW_SINK;
        return parser_next(p);
    }
    return parse_name(p, r);
}

/* !%p, -%r, or a constant that begins with these. */
static bool parse_prefixed(struct parser *p, struct raw *r)
{
    struct lexer back = p->lx;
    struct token sign = p->tok;

    if (!parser_next(p))
        return false;
    if (p->tok.kind == TOK_IDENT && !token_is(&p->tok, "WARP_SZ")) {
        r->bang = sign.kind == '!';
        r->minus = sign.kind == '-';
        return parse_name(p, r);
    }
    back.c_locale = p->lx.c_locale;
    p->lx = back;
    p->tok = sign;
    r->kind = RAW_NUMBER;
    return parse_const(p, &r->tok);
}

static bool add_raw(struct parser *p, uint32_t *index, const struct raw *r)
{
    struct raw *slot = list_add(p, &p->raws, sizeof(*slot), 1);

    if (!slot)
        return false;
    *slot = *r;
    *index = p->raws.n - 1;
    return true;
}

static bool parse_vector(struct parser *p, uint32_t *index)
{
    struct raw r = {.kind = RAW_VEC, .tok = p->tok}, child;
    uint32_t at, self;

    if (!add_raw(p, &self, &r) || !parser_next(p))
        return false;
    r.first = p->raws.n;
    while (p->tok.kind != '}') {
        memset(&child, 0, sizeof(child));
        if (r.count >= PTX_MAX_VECTOR)
            return parser_fail_as(p, -E2BIG, &p->tok, "more than %d elements in a list",
                                  PTX_MAX_VECTOR);
        if (!parse_simple(p, &child) || !add_raw(p, &at, &child))
            return false;
        r.count++;
        if (p->tok.kind != '}' && !parser_need(p, ',', "',' or '}'"))
            return false;
    }
    if (r.count == 0)
        return parser_expected(p, "an element");
    *parser_raw(p, self) = r;
    *index = self;
    return parser_next(p);
}

static bool parse_offset(struct parser *p, int64_t *offset)
{
    uint64_t v;

    if (p->tok.kind != '+' && p->tok.kind != '-')
        return true;
    if (!parse_const_int(p, &v))
        return false;
    *offset = (int64_t)((uint64_t)*offset + v);
    return true;
}

/* Reads [a, b] or [a, s, b] of textures and surfaces; the first part has been read. */
static bool parse_texture_parts(struct parser *p, struct raw *r)
{
    struct raw first = *r;

    r->kind = RAW_TEX;
    r->count = 1;
    if (!add_raw(p, &r->part[0], &first))
        return false;
    while (parser_accept(p, ',')) {
        if (r->count == 3)
            return parser_expected(p, "']'");
        if (!parse_raw(p, &r->part[r->count++]))
            return false;
    }
    return p->status == 0;
}

static bool parse_brackets(struct parser *p, uint32_t *index)
{
    struct token open = p->tok;
    struct raw r = {0};
    struct ptx_mem mem = {0};
    char text[48];

    if (!parser_next(p))
        return false;
    if (!parse_simple(p, &r))
        return false;
    if (p->tok.kind == ',') {
        if (!parse_texture_parts(p, &r))
            return false;
    } else {
        switch (r.kind) {
        case RAW_REG:
            mem.base = PTX_BASE_REG;
            mem.reg = r.o.reg;
            if (!parse_offset(p, &mem.offset))
                return false;
            break;
        case RAW_SYM:
            mem.base = PTX_BASE_VAR;
            mem.var = r.o.sym.var;
            mem.offset = r.o.sym.offset;
            break;
        case RAW_NUMBER:
            if (r.tok.kind != TOK_INT)
                return parser_fail(p, &r.tok, "expected an address, found a floating-point number");
            mem.base = PTX_BASE_ABS;
            mem.offset = (int64_t)r.tok.value;
            break;
        default:
            token_clip(&r.tok, text, sizeof(text));
            return parser_fail(p, &r.tok,
                               "expected a register or a variable as address, found '%s'", text);
        }
        r.kind = RAW_MEM;
        r.o.mem = mem;
    }
    r.tok = open;
    return parser_need(p, ']', "']'") && add_raw(p, index, &r);
}

bool parse_raw(struct parser *p, uint32_t *index)
{
    struct raw r = {0};

    if (p->tok.kind == '{')
        return parse_vector(p, index);
    if (p->tok.kind == '[') {
        if (p->depth > 0) /* brackets inside brackets */
            return parser_expected(p, "an operand");
        p->depth++;
        if (!parse_brackets(p, index))
            return false;
        p->depth--;
        return true;
    }
    return parse_simple(p, &r) && add_raw(p, index, &r);
}

bool parse_raws(struct parser *p)
{
    uint32_t index, *top;
    bool piped = false;

    p->raws.n = p->tops.n = 0;
    while (p->tok.kind != ';') {
        if (!parse_raw(p, &index))
            return false;
        parser_raw(p, index)->piped = piped;
        top = list_add(p, &p->tops, sizeof(*top), 1);
        if (!top)
            return false;
        *top = index;
        if (p->tops.n > PTX_MAX_OPERANDS)
            return parser_expected(p, "';'");
        piped = p->tok.kind == '|';
        if (p->tok.kind == ';')
            break;
        if (!piped && p->tok.kind != ',')
            return parser_expected(p, "',' or ';'");
        if (!parser_next(p))
            return false;
    }
    return true;
}

bool find_predicate(struct parser *p, uint32_t *reg)
{
    struct raw r = {0};

    if (p->tok.kind != TOK_IDENT)
        return parser_expected(p, "a predicate register");
    resolve(p, p->tok.text, p->tok.len, &r);
    if (r.kind != RAW_REG || parser_reg_type(p, r.o.reg) != PTX_T_PRED)
        return parser_expected(p, "a predicate register");
    *reg = r.o.reg;
    return true;
}

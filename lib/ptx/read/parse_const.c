/* Constants and constant expressions. Values are 64 bits, signed unless written with U or too large
 * for that, as PTX defines it. */
#include <string.h>

#include "ptx/read/parse.h"

struct value {
    uint64_t v;
    bool is_unsigned;
};

static bool parse_conditional(struct parser *p, struct value *out);

static bool too_deep(struct parser *p)
{
    return parser_fail_as(p, -E2BIG, &p->tok, "nested deeper than %d", PTX_MAX_DEPTH);
}

/* Reads ( expression ), or a cast: (.s64) unary, (.u64) unary. */
static bool parse_unary(struct parser *p, struct value *out);

static bool parse_parenthesis(struct parser *p, struct value *out)
{
    bool cast, to_unsigned;

    if (!parser_need(p, '(', "'('"))
        return false;
    cast = parser_is_word(p, "s64") || parser_is_word(p, "u64");
    if (cast) {
        to_unsigned = parser_is_word(p, "u64");
        if (!parser_next(p) || !parser_need(p, ')', "')'") || !parse_unary(p, out))
            return false;
        out->is_unsigned = to_unsigned;
        return true;
    }
    return parse_conditional(p, out) && parser_need(p, ')', "')'");
}

static bool parse_unary(struct parser *p, struct value *out)
{
    int kind = p->tok.kind;
    bool ok;

    switch (kind) {
    case '-':
    case '+':
    case '!':
    case '~':
        if (p->depth >= PTX_MAX_DEPTH)
            return too_deep(p);
        p->depth++;
        ok = parser_next(p) && parse_unary(p, out);
        p->depth--;
        if (!ok)
            return false;
        if (kind == '-')
            out->v = -out->v;
        else if (kind == '~')
            out->v = ~out->v;
        else if (kind == '!')
            *out = (struct value){!out->v, false};
        return true;
    case '(':
        if (p->depth >= PTX_MAX_DEPTH)
            return too_deep(p);
        p->depth++;
        ok = parse_parenthesis(p, out);
        p->depth--;
        return ok;
    case TOK_INT:
        out->v = p->tok.value;
        out->is_unsigned = out->v > INT64_MAX || (p->tok.text[p->tok.len - 1] | 32) == 'u';
        return parser_next(p);
    case TOK_IDENT:
        if (token_is(&p->tok, "WARP_SZ")) {
            *out = (struct value){32, false};
            return parser_next(p);
        }
        return parser_expected(p, "a constant");
    default:
        return parser_expected(p, "a constant");
    }
}

static int precedence(int kind)
{
    switch (kind) {
    case '*':
    case '/':
    case '%':
        return 10;
    case '+':
    case '-':
        return 9;
    case TOK_SHL:
    case TOK_SHR:
        return 8;
    case '<':
    case '>':
    case TOK_LE:
    case TOK_GE:
        return 7;
    case TOK_EQ:
    case TOK_NE:
        return 6;
    case '&':
        return 5;
    case '^':
        return 4;
    case '|':
        return 3;
    case TOK_ANDAND:
        return 2;
    case TOK_OROR:
        return 1;
    default:
        return 0;
    }
}

static bool divide(struct parser *p, int kind, struct value *a, const struct value *b,
                   bool is_unsigned)
{
    if (b->v == 0)
        return parser_fail(p, &p->tok, "a constant divided by zero");
    if (is_unsigned)
        a->v = kind == '/' ? a->v / b->v : a->v % b->v;
    else if ((int64_t)b->v == -1) /* INT64_MIN / -1 wraps to itself */
        a->v = kind == '/' ? -a->v : 0;
    else
        a->v = kind == '/' ? (uint64_t)((int64_t)a->v / (int64_t)b->v)
                           : (uint64_t)((int64_t)a->v % (int64_t)b->v);
    return true;
}

static bool less(const struct value *a, const struct value *b, bool is_unsigned)
{
    return is_unsigned ? a->v < b->v : (int64_t)a->v < (int64_t)b->v;
}

static bool apply(struct parser *p, int kind, struct value *a, const struct value *b)
{
    bool is_unsigned = a->is_unsigned || b->is_unsigned;

    switch (kind) {
    case '*':
        a->v *= b->v;
        break;
    case '/':
    case '%':
        if (!divide(p, kind, a, b, is_unsigned))
            return false;
        break;
    case '+':
        a->v += b->v;
        break;
    case '-':
        a->v -= b->v;
        break;
    case TOK_SHL:
        a->v = b->v < 64 ? a->v << b->v : 0;
        return true; /* the type of a shift is that of its left side */
    case TOK_SHR:
        if (a->is_unsigned)
            a->v = b->v < 64 ? a->v >> b->v : 0;
        else
            a->v = (uint64_t)((int64_t)a->v >> (b->v < 63 ? b->v : 63));
        return true;
    case '<':
        *a = (struct value){less(a, b, is_unsigned), false};
        return true;
    case '>':
        *a = (struct value){less(b, a, is_unsigned), false};
        return true;
    case TOK_LE:
        *a = (struct value){!less(b, a, is_unsigned), false};
        return true;
    case TOK_GE:
        *a = (struct value){!less(a, b, is_unsigned), false};
        return true;
    case TOK_EQ:
        *a = (struct value){a->v == b->v, false};
        return true;
    case TOK_NE:
        *a = (struct value){a->v != b->v, false};
        return true;
    case '&':
        a->v &= b->v;
        break;
    case '^':
        a->v ^= b->v;
        break;
    case '|':
        a->v |= b->v;
        break;
    case TOK_ANDAND:
        *a = (struct value){a->v && b->v, false};
        return true;
    case TOK_OROR:
        *a = (struct value){a->v || b->v, false};
        return true;
    }
    a->is_unsigned = is_unsigned;
    return true;
}

/* Reads operators that bind at least as tightly as LEAST; the ten levels bound the recursion. */
static bool parse_binary(struct parser *p, int least, struct value *out)
{
    struct value right;
    int kind, prec;

    if (!parse_unary(p, out))
        return false;
    while ((prec = precedence(p->tok.kind)) >= least && prec > 0) {
        kind = p->tok.kind;
        if (!parser_next(p) || !parse_binary(p, prec + 1, &right) || !apply(p, kind, out, &right))
            return false;
    }
    return true;
}

static bool parse_conditional(struct parser *p, struct value *out)
{
    struct value yes, no;
    bool ok;

    if (!parse_binary(p, 1, out))
        return false;
    if (p->tok.kind != '?')
        return true;
    if (p->depth >= PTX_MAX_DEPTH)
        return too_deep(p);
    p->depth++;
    ok = parser_next(p) && parse_conditional(p, &yes) && parser_need(p, ':', "':'") &&
         parse_conditional(p, &no);
    p->depth--;
    if (ok)
        *out = out->v ? yes : no;
    return ok;
}

bool parse_const_int(struct parser *p, uint64_t *value)
{
    struct value v;

    if (!parse_conditional(p, &v))
        return false;
    *value = v.v;
    return true;
}

bool parse_const(struct parser *p, struct token *out)
{
    bool minus = false;
    struct lexer back = p->lx;
    struct token start = p->tok;

    *out = p->tok;
    if (p->tok.kind == '-' || p->tok.kind == '+') {
        minus = p->tok.kind == '-';
        if (!parser_next(p))
            return false;
    }
    if (p->tok.kind == TOK_F32 || p->tok.kind == TOK_F64) {
        out->kind = p->tok.kind;
        out->value = p->tok.value;
        if (minus)
            out->value ^= out->kind == TOK_F32 ? 1ull << 31 : 1ull << 63;
        return parser_next(p);
    }
    back.c_locale = p->lx.c_locale;
    p->lx = back;
    p->tok = start;
    out->kind = TOK_INT;
    return parse_const_int(p, &out->value);
}

bool parse_uint(struct parser *p, uint64_t most, const char *what, uint64_t *value)
{
    struct token at = p->tok;
    uint64_t v;

    if (at.kind != TOK_INT && at.kind != '(')
        return parser_expected(p, what);
    if (!parse_const_int(p, &v))
        return false;
    if (v > most)
        return parser_fail_as(p, -E2BIG, &at, "%s of %llu is more than %llu", what,
                              (unsigned long long)v, (unsigned long long)most);
    *value = v;
    return true;
}

static uint64_t sign_extend(uint64_t v, unsigned bits)
{
    return bits >= 64 ? v : (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits));
}

static double token_double(const struct token *t)
{
    uint32_t word = (uint32_t)t->value;
    double d;
    float f;

    if (t->kind == TOK_F32) {
        memcpy(&f, &word, sizeof(f));
        return f;
    }
    memcpy(&d, &t->value, sizeof(d));
    return d;
}

/* The bits of a floating-point constant, exactly as written where the widths agree (a NaN keeps its
 * payload). */
static uint64_t float_bits(const struct token *t, unsigned bits)
{
    double d;
    float f;
    uint32_t word;
    uint64_t result;

    if ((t->kind == TOK_F32) == (bits == 32))
        return t->value;
    d = token_double(t);
    if (bits == 64) {
        memcpy(&result, &d, sizeof(d));
        return result;
    }
    f = (float)d;
    memcpy(&word, &f, sizeof(f));
    return word;
}

bool const_to_type(struct parser *p, const struct token *value, enum ptx_type type, uint64_t *bits)
{
    unsigned width = ptx_type_bits(type);

    if (value->kind == TOK_INT) {
        if (type == PTX_T_F32 || type == PTX_T_F64)
            return parser_fail(
                p, value, "expected a .%s constant such as 0f3F800000 or 1.0, found an integer",
                ptx_type_name(type));
        *bits =
            type == PTX_T_PRED ? value->value != 0 : sign_extend(value->value, width ? width : 64);
        return true;
    }
    if (type != PTX_T_F32 && type != PTX_T_F64 && type != PTX_T_B32 && type != PTX_T_B64)
        return parser_fail(p, value, "expected a .%s constant, found a floating-point number",
                           ptx_type_name(type));
    *bits = float_bits(value, width);
    if (type == PTX_T_B32)
        *bits = sign_extend(*bits, 32);
    return true;
}

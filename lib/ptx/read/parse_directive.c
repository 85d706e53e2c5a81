/* Small directives that are allowed both at module level and inside functions: .pragma, .loc,
 * .file, .section. */
#include "ptx/read/parse.h"

bool parse_pragma(struct parser *p, const char **text, uint32_t *end)
{
    struct token at;
    char *joined = NULL, *more;
    size_t len = 0;

    if (!parser_next(p))
        return false;
    do {
        at = p->tok;
        if (!parser_need(p, TOK_STRING, "a string"))
            return false;
        /* Several strings are kept as one, as they are written: "a", "b". */
        more = parser_alloc(p, len + at.len + 5);
        if (!more)
            return false;
        if (joined)
            memcpy(more, joined, len);
        len += (size_t)sprintf(more + len, "%s\"", joined ? ", " : "");
        memcpy(more + len, at.text, at.len);
        len += at.len;
        more[len++] = '"';
        joined = more;
    } while (parser_accept(p, ','));
    *text = joined;
    *end = parser_offset(p) + 1;
    return parser_need(p, ';', "';'");
}

static bool parse_three_numbers(struct parser *p)
{
    for (unsigned i = 0; i < 3; i++) {
        if (!parser_need(p, TOK_INT, "a number"))
            return false;
    }
    return true;
}

/* Reads what stands behind a comma of .loc: a function's name, or the position of a call. A label
 * or an instruction may follow the three numbers of the position. */
static bool parse_loc_attribute(struct parser *p)
{
    const bool attribute = p->tok.kind == TOK_IDENT;

    if (attribute && token_is(&p->tok, "inlined_at"))
        return parser_next(p) && parse_three_numbers(p);
    if (!attribute || !token_is(&p->tok, "function_name"))
        return parser_expected(p, "function_name or inlined_at");
    if (!parser_next(p) || !parser_need(p, TOK_IDENT, "a label"))
        return false;
    return p->tok.kind != '+' || (parser_next(p) && parser_need(p, TOK_INT, "a number"));
}

/* .loc file line column [, function_name label [+ n] [, inlined_at file line column]] */
bool parse_loc(struct parser *p)
{
    if (!parser_next(p) || !parse_three_numbers(p))
        return false;
    while (parser_accept(p, ',')) {
        if (!parse_loc_attribute(p))
            return false;
    }
    return p->status == 0;
}

static bool skip_braces(struct parser *p)
{
    unsigned depth = 0;

    do {
        if (p->tok.kind == '{')
            depth++;
        else if (p->tok.kind == '}')
            depth--;
        else if (p->tok.kind == TOK_EOF)
            return parser_expected(p, "'}'");
        if (!parser_next(p))
            return false;
    } while (depth);
    return true;
}

bool parse_file(struct parser *p)
{
    if (!parser_next(p) || !parser_need(p, TOK_INT, "a file number") ||
        !parser_need(p, TOK_STRING, "a file name"))
        return false;
    while (parser_accept(p, ','))
        if (!parser_need(p, TOK_INT, "a number"))
            return false;
    return p->status == 0;
}

/* Debug information is skipped and not kept. */
bool parse_section(struct parser *p)
{
    if (!parser_next(p))
        return false;
    if (p->tok.kind != TOK_DOT && p->tok.kind != TOK_IDENT)
        return parser_expected(p, "a section name");
    if (!parser_next(p))
        return false;
    if (p->tok.kind != '{')
        return parser_expected(p, "'{'");
    return skip_braces(p);
}

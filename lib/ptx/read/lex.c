/* Cuts PTX text into tokens. One thread per lexer; nothing in the text is trusted, and no byte
 * behind its end is read. */
#include "ptx/read/lex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"

enum { CH_ALPHA = 1, CH_DIGIT = 2, CH_HEX = 4, CH_IDENT = 8, CH_SPACE = 16 };

static unsigned char_class(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return CH_DIGIT | CH_HEX | CH_IDENT;
    if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
        return CH_ALPHA | CH_HEX | CH_IDENT;
    if ((c >= 'g' && c <= 'z') || (c >= 'G' && c <= 'Z'))
        return CH_ALPHA | CH_IDENT;
    if (c == '_' || c == '$')
        return CH_IDENT;
    if (c == ' ' || (c >= '\t' && c <= '\r'))
        return CH_SPACE;
    return 0;
}

void lexer_init(struct lexer *lx, const char *text, size_t len)
{
    memset(lx, 0, sizeof(*lx));
    lx->cur = lx->line_start = text;
    lx->end = text + len;
    lx->line = 1;
}

void lexer_deinit(struct lexer *lx)
{
    if (lx->c_locale)
        freelocale(lx->c_locale);
    lx->c_locale = (locale_t)0;
}

static int at(const struct lexer *lx, size_t ahead)
{
    return (size_t)(lx->end - lx->cur) > ahead ? (unsigned char)lx->cur[ahead] : -1;
}

static bool is(int c, unsigned class)
{
    return c >= 0 && char_class((unsigned char)c) & class;
}

char lexer_peek(const struct lexer *lx)
{
    return lx->cur < lx->end ? *lx->cur : 0;
}

static void newline(struct lexer *lx)
{
    lx->line++;
    lx->line_start = lx->cur + 1;
}

static void skip_line(struct lexer *lx)
{
    const char *nl = memchr(lx->cur, '\n', lx->end - lx->cur);

    lx->cur = nl ? nl : lx->end;
}

/* Returns false if the comment does not end. */
static bool skip_comment(struct lexer *lx)
{
    lx->open_line = lx->line;
    lx->open_column = (uint32_t)(lx->cur - lx->line_start) + 1;
    for (lx->cur += 2; lx->cur < lx->end; lx->cur++) {
        if (*lx->cur == '*' && at(lx, 1) == '/') {
            lx->cur += 2;
            return true;
        }
        if (*lx->cur == '\n')
            newline(lx);
    }
    return false;
}

/* Skips white space, comments, preprocessor lines and the old @@DWARF lines. */
static bool skip_blank(struct lexer *lx)
{
    int c;

    while ((c = at(lx, 0)) >= 0) {
        if (c == '\n') {
            newline(lx);
            lx->cur++;
        } else if (is(c, CH_SPACE)) {
            lx->cur++;
        } else if ((c == '/' && at(lx, 1) == '/') || c == '#' || (c == '@' && at(lx, 1) == '@')) {
            skip_line(lx);
        } else if (c == '/' && at(lx, 1) == '*') {
            if (!skip_comment(lx))
                return false;
        } else {
            break;
        }
    }
    return true;
}

static void bad(struct token *tok, const char *why)
{
    tok->kind = TOK_BAD;
    tok->why = why;
}

static int digit_value(int c)
{
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

/* Reads digits of BASE from the cursor; false when they overflow 64 bits or there are none. */
static bool read_digits(struct lexer *lx, unsigned base, uint64_t *value)
{
    const char *start = lx->cur;
    uint64_t v = 0;
    bool fits = true;
    unsigned d;

    while (is(at(lx, 0), CH_HEX)) {
        d = digit_value(at(lx, 0));
        if (d >= base)
            break;
        if (v > (UINT64_MAX - d) / base)
            fits = false;
        v = v * base + d;
        lx->cur++;
    }
    *value = v;
    return fits && lx->cur > start;
}

static void read_hex_float(struct lexer *lx, struct token *tok, unsigned digits)
{
    const char *start = lx->cur += 2;

    tok->kind = digits == 8 ? TOK_F32 : TOK_F64;
    if (!read_digits(lx, 16, &tok->value) || lx->cur - start != digits)
        bad(tok, digits == 8 ? "0f needs 8 hexadecimal digits" : "0d needs 16 hexadecimal digits");
}

/* Decimal fractions are rare in PTX (compilers write bits), so a bounded copy is good enough. */
static void read_decimal_float(struct lexer *lx, struct token *tok)
{
    char copy[64];
    double value;
    size_t n = 0;
    int c;

    lx->cur = tok->text;
    while ((c = at(lx, 0)) >= 0 && n < sizeof(copy) - 1) {
        if (!is(c, CH_DIGIT) && c != '.' && (c | 32) != 'e' &&
            !((c == '+' || c == '-') && n > 0 && (copy[n - 1] | 32) == 'e'))
            break;
        copy[n++] = (char)c;
        lx->cur++;
    }
    copy[n] = 0;
    if (!lx->c_locale)
        lx->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!lx->c_locale) {
        bad(tok, "no memory for a decimal number");
        return;
    }
    char *rest;
    value = strtod_l(copy, &rest, lx->c_locale);
    tok->kind = TOK_F64;
    memcpy(&tok->value, &value, sizeof(value));
    if (*rest || n == sizeof(copy) - 1)
        bad(tok, "a decimal number that cannot be read");
}

static void read_number(struct lexer *lx, struct token *tok)
{
    int second = at(lx, 1) | 32;
    bool fits, octal;

    if (at(lx, 0) == '0' && second == ('f' | 32)) {
        read_hex_float(lx, tok, 8);
    } else if (at(lx, 0) == '0' && second == ('d' | 32)) {
        read_hex_float(lx, tok, 16);
    } else {
        tok->kind = TOK_INT;
        octal = at(lx, 0) == '0' && is(at(lx, 1), CH_DIGIT);
        if (at(lx, 0) == '0' && second == 'x') {
            lx->cur += 2;
            fits = read_digits(lx, 16, &tok->value);
        } else if (at(lx, 0) == '0' && second == 'b') {
            lx->cur += 2;
            fits = read_digits(lx, 2, &tok->value);
        } else {
            fits = read_digits(lx, octal ? 8 : 10, &tok->value);
            if (at(lx, 0) == '.' || (at(lx, 0) | 32) == 'e') {
                read_decimal_float(lx, tok);
                fits = true;
            }
        }
        if (!fits)
            bad(tok, "an integer that does not fit 64 bits");
        else if (at(lx, 0) == 'U' || at(lx, 0) == 'u')
            lx->cur++;
    }
    if (tok->kind != TOK_BAD && is(at(lx, 0), CH_IDENT))
        bad(tok, "letters behind a number");
}

static void read_string(struct lexer *lx, struct token *tok)
{
    tok->text = ++lx->cur;
    while (at(lx, 0) >= 0 && *lx->cur != '"' && *lx->cur != '\n')
        lx->cur += *lx->cur == '\\' && at(lx, 1) >= 0 && at(lx, 1) != '\n' ? 2 : 1;
    tok->len = (uint32_t)(lx->cur - tok->text);
    if (at(lx, 0) != '"') {
        bad(tok, "a string that does not end on its line");
        return;
    }
    lx->cur++;
    tok->kind = TOK_STRING;
}

/* Reads the characters of ".word", with "::" inside as in .shared::cta. */
static void read_word(struct lexer *lx)
{
    while (is(at(lx, 0), CH_IDENT) ||
           (at(lx, 0) == ':' && at(lx, 1) == ':' && is(at(lx, 2), CH_IDENT)))
        lx->cur += *lx->cur == ':' ? 2 : 1;
}

static void read_punctuation(struct lexer *lx, struct token *tok)
{
    static const struct {
        char text[3];
        int kind;
    } pairs[] = {{"<<", TOK_SHL}, {">>", TOK_SHR}, {"<=", TOK_LE},     {">=", TOK_GE},
                 {"==", TOK_EQ},  {"!=", TOK_NE},  {"&&", TOK_ANDAND}, {"||", TOK_OROR}};
    int c = at(lx, 0);
    size_t i;

    for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (c == pairs[i].text[0] && at(lx, 1) == pairs[i].text[1]) {
            tok->kind = pairs[i].kind;
            lx->cur += 2;
            return;
        }
    }
    if (c && strchr("{}[]()<>,;:@!|&^~?+-*/%=", c))
        tok->kind = c;
    else
        bad(tok, "a character that PTX does not use");
    lx->cur++;
}

static void bound_length(struct token *tok)
{
    if (tok->len > PTX_MAX_NAME)
        bad(tok, "a name or a string of more than 16384 bytes");
}

void lexer_next(struct lexer *lx, struct token *tok)
{
    int c;
    bool ended = skip_blank(lx);

    tok->text = lx->cur;
    tok->line = lx->line;
    tok->column = (uint32_t)(lx->cur - lx->line_start) + 1;
    tok->value = 0;
    tok->len = 0;
    tok->why = NULL;
    c = at(lx, 0);
    if (!ended) {
        tok->line = lx->open_line;
        tok->column = lx->open_column;
        bad(tok, "a comment that does not end");
        return;
    }
    if (c <= 0) {
        tok->kind = TOK_EOF;
        return;
    }
    if (is(c, CH_ALPHA) || c == '_' || c == '$' || (c == '%' && is(at(lx, 1), CH_IDENT))) {
        tok->kind = TOK_IDENT;
        lx->cur++;
        while (is(at(lx, 0), CH_IDENT))
            lx->cur++;
    } else if (c == '.' && is(at(lx, 1), CH_IDENT)) {
        tok->kind = TOK_DOT;
        tok->text = ++lx->cur;
        read_word(lx);
    } else if (is(c, CH_DIGIT)) {
        read_number(lx, tok);
    } else if (c == '"') {
        read_string(lx, tok);
        bound_length(tok);
        return;
    } else {
        read_punctuation(lx, tok);
    }
    tok->len = (uint32_t)(lx->cur - tok->text);
    bound_length(tok);
}

void lexer_extend_mnemonic(struct lexer *lx, struct token *tok)
{
    while (at(lx, 0) == '.' && is(at(lx, 1), CH_IDENT)) {
        lx->cur++;
        read_word(lx);
    }
    tok->len = (uint32_t)(lx->cur - tok->text);
}

/* Cuts PTX text into tokens. A lexer belongs to one parse; it reads the text in place, never past
 * its end, and trusts none of it. */
#ifndef GS_PTX_LEX_H
#define GS_PTX_LEX_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOK_EOF,
    TOK_BAD, /* a byte or a number that PTX does not know; .why says so */
    /* Single characters stand for themselves: '{' ';' ... */
    TOK_IDENT = 256, /* name, %name, $name, _ */
    TOK_DOT,         /* .word: text starts behind the dot */
    TOK_INT,         /* .value */
    TOK_F32,         /* 0f3F800000: .value has the bits */
    TOK_F64,         /* 0d..., or decimal: .value has the bits */
    TOK_STRING,      /* text between the quotes */
    TOK_SHL,
    TOK_SHR,
    TOK_LE,
    TOK_GE,
    TOK_EQ,
    TOK_NE,
    TOK_ANDAND,
    TOK_OROR
};

struct token {
    int kind;
    const char *text;
    uint32_t len;
    uint32_t line, column;
    uint64_t value;
    const char *why;
};

struct lexer {
    const char *cur, *end, *line_start;
    uint32_t line;
    uint32_t open_line, open_column; /* of a comment that does not end */
    locale_t c_locale;               /* made when the first decimal fraction is met */
};

void lexer_init(struct lexer *lx, const char *text, size_t len);
void lexer_deinit(struct lexer *lx);
void lexer_next(struct lexer *lx, struct token *tok);
/* Extends the identifier TOK, just read, over the ".word" parts that follow without a gap. */
void lexer_extend_mnemonic(struct lexer *lx, struct token *tok);
/* The byte after the last token, 0 at the end: to tell "x.y" from "x .y". */
char lexer_peek(const struct lexer *lx);

#endif

/* Positions in the source text at which passes make edits; see pass.h. Depends on no pass. */
#include <string.h>

#include "ptx/read/lex.h"
#include "ptx/rewrite/pass.h"

size_t rewrite_opcode_at(const struct rewrite *rw, const struct ptx_inst *inst)
{
    struct lexer lexer;
    struct token t;

    lexer_init(&lexer, rw->text + inst->begin, inst->end - inst->begin);
    lexer_next(&lexer, &t);
    if (t.kind == '@') {
        lexer_next(&lexer, &t);
        if (t.kind == '!')
            lexer_next(&lexer, &t);
        lexer_next(&lexer, &t);
    }
    lexer_deinit(&lexer);
    return (size_t)(t.text - rw->text);
}

const char *rewrite_guard(const char *text, const struct ptx_inst *inst, size_t *len, bool *negated)
{
    const char *name = NULL;
    struct lexer lexer;
    struct token t;

    lexer_init(&lexer, text + inst->begin, inst->end - inst->begin);
    lexer_next(&lexer, &t);
    if (t.kind == '@') {
        lexer_next(&lexer, &t);
        *negated = t.kind == '!';
        if (*negated)
            lexer_next(&lexer, &t);
        name = t.text;
        *len = t.len;
    }
    lexer_deinit(&lexer);
    return name;
}

size_t rewrite_head_end(const char *text, size_t len)
{
    static const char word[] = "address_size";
    struct lexer lexer;
    struct token t;
    size_t at = 0;

    lexer_init(&lexer, text, len);
    for (lexer_next(&lexer, &t); t.kind != TOK_EOF && t.kind != TOK_BAD; lexer_next(&lexer, &t)) {
        if (t.kind != TOK_DOT || t.len != sizeof(word) - 1 || memcmp(t.text, word, t.len) != 0)
            continue;
        lexer_next(&lexer, &t);
        at = (size_t)(t.text + t.len - text);
        break;
    }
    lexer_deinit(&lexer);
    return at;
}

bool rewrite_constants_fit(const struct ptx_module *m)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < m->nvars; i++) {
        const struct ptx_var *var = m->vars[i];

        if (var->space == PTX_SPACE_CONST)
            bytes = (bytes + var->align - 1) / var->align * var->align + var->size;
    }
    return bytes + 64 <= 65536;
}

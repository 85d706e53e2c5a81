/* Addresses of module variables as values: "mov.u64 %rd1, v" yields the address of the variable's
 * place in the block. */
#include <string.h>

#include "ptx/read/lex.h"
#include "ptx/rewrite/fence.h"

/* The operand whose variable T names; NULL: T names none of the operands' variables. */
static const struct ptx_operand *symbol_of(const struct ptx_operand *o, unsigned count,
                                           const struct token *t)
{
    for (unsigned i = 0; i < count; i++) {
        const struct ptx_operand *found = NULL;

        if (o[i].kind == PTX_OPND_SYM && fence_is_moved(o[i].sym.var) &&
            strlen(o[i].sym.var->name) == t->len && !memcmp(o[i].sym.var->name, t->text, t->len))
            return &o[i];
        if (o[i].kind == PTX_OPND_VEC)
            found = symbol_of(o[i].list, o[i].count, t);
        if (found)
            return found;
    }
    return NULL;
}

static unsigned count_symbols(const struct ptx_operand *o, unsigned count)
{
    unsigned n = 0;

    for (unsigned i = 0; i < count; i++) {
        n += o[i].kind == PTX_OPND_SYM && fence_is_moved(o[i].sym.var);
        if (o[i].kind == PTX_OPND_VEC)
            n += count_symbols(o[i].list, o[i].count);
    }
    return n;
}

/* Replaces the name and the text up to the next comma, brace or semicolon: "v+4". */
static void replace_symbol(struct fence *fence, struct lexer *lexer, struct token *t,
                           const struct ptx_operand *o)
{
    struct fence_span span = {t->text, t->len};

    while (t->kind != ',' && t->kind != '}' && t->kind != ';' && !fence_token_is_end(t)) {
        span.len = (size_t)(t->text + t->len - span.text);
        lexer_next(lexer, t);
    }
    fence_before(fence, "add.s64 gshare$sym, gshare$globals, %lld; ",
                 (long long)(fence_block_offset(o->sym.var) + (uint64_t)o->sym.offset));
    fence_replace(fence, span, "gshare$sym");
}

bool fence_symbols(struct fence *fence)
{
    const struct ptx_inst *inst = fence->inst;
    unsigned left = count_symbols(inst->ops, inst->nops);
    struct lexer lexer;
    struct token t;

    if (!left)
        return true;
    if (left > 1)
        return fence_refuse(fence, inst->line, "%s: addresses of two variables",
                            ptx_op_name(inst->op));
    if (inst->type[0] && ptx_type_bits(inst->type[0]) != 64)
        return fence_refuse(fence, inst->line, "%s: an address of a variable in less than 64 bits",
                            ptx_op_name(inst->op));
    fence_operands(fence, &lexer, &t);
    while (!fence_token_is_end(&t) && left) {
        const struct ptx_operand *o =
            t.kind == TOK_IDENT ? symbol_of(inst->ops, inst->nops, &t) : NULL;

        if (o) {
            replace_symbol(fence, &lexer, &t, o);
            left--;
        } else {
            lexer_next(&lexer, &t);
        }
    }
    lexer_deinit(&lexer);
    return !left || fence_refuse(fence, inst->line, "%s: a variable's address in an unknown form",
                                 ptx_op_name(inst->op));
}

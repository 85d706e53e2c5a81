/* Where operands stand in the text of an instruction. The names there are the tenant's own, of the
 * scope that they are written in; those of the IR were made unique. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ptx/read/lex.h"
#include "ptx/rewrite/fence.h"

static void begin(const struct fence *fence, struct lexer *lexer)
{
    lexer_init(lexer, fence->text + fence->inst->begin, fence->inst->end - fence->inst->begin);
}

static bool is_end(const struct token *t)
{
    return t->kind == TOK_EOF || t->kind == TOK_BAD;
}

struct fence_span fence_brackets(const struct fence *fence, unsigned n, struct fence_span *name)
{
    struct fence_span span = {NULL, 0};
    struct lexer lexer;
    struct token t;

    *name = span;
    begin(fence, &lexer);
    for (lexer_next(&lexer, &t); !is_end(&t); lexer_next(&lexer, &t)) {
        if (t.kind == '[' && !n--)
            span.text = t.text;
        else if (span.text && !name->text && t.kind == TOK_IDENT) {
            lexer_extend_mnemonic(&lexer, &t); /* %v.x */
            *name = (struct fence_span){t.text, t.len};
        }
        if (span.text && t.kind == ']') {
            span.len = (size_t)(t.text + 1 - span.text);
            break;
        }
    }
    lexer_deinit(&lexer);
    return span;
}

/* The opcode and its modifiers are behind the lexer, T is the first token of the operands. */
static void skip_opcode(struct lexer *lexer, struct token *t)
{
    lexer_next(lexer, t);
    if (t->kind == '@') {
        lexer_next(lexer, t);
        if (t->kind == '!')
            lexer_next(lexer, t);
        lexer_next(lexer, t);
    }
    lexer_extend_mnemonic(lexer, t);
    lexer_next(lexer, t);
}

struct fence_span fence_operand(const struct fence *fence, unsigned n)
{
    struct fence_span span = {NULL, 0};
    struct lexer lexer;
    struct token t;
    unsigned at = 0;
    int depth = 0;

    begin(fence, &lexer);
    for (skip_opcode(&lexer, &t); !is_end(&t); lexer_next(&lexer, &t)) {
        if (!depth && (t.kind == ',' || t.kind == ';')) {
            at++;
            continue;
        }
        depth += t.kind == '{' || t.kind == '[' || t.kind == '(';
        depth -= t.kind == '}' || t.kind == ']' || t.kind == ')';
        if (at == n && !span.text)
            span.text = t.text;
        if (at == n)
            span.len = (size_t)(t.text + t.len - span.text);
    }
    lexer_deinit(&lexer);
    return span;
}

void fence_replace(struct fence *fence, struct fence_span span, const char *with)
{
    size_t at = (size_t)(span.text - fence->text);

    edits_replace(&fence->edits, at, at + span.len, with);
}

void fence_before(struct fence *fence, const char *format, ...)
{
    va_list arguments;
    char text[512];

    va_start(arguments, format);
    if (vsnprintf(text, sizeof(text), format, arguments) >= (int)sizeof(text))
        fence_refuse(fence, fence->inst->line, "a name of more than 200 characters");
    va_end(arguments);
    edits_insert(&fence->edits, fence->inst->begin, edits_text(&fence->edits, "%s", text));
}

/* Whether T names the variable of one of the operands, which resolve to nothing else there. */
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

/* The name and what stands behind it up to the next comma, brace or semicolon: "v+4". */
static void replace_symbol(struct fence *fence, struct lexer *lexer, struct token *t,
                           const struct ptx_operand *o)
{
    struct fence_span span = {t->text, t->len};

    while (t->kind != ',' && t->kind != '}' && t->kind != ';' && !is_end(t)) {
        span.len = (size_t)(t->text + t->len - span.text);
        lexer_next(lexer, t);
    }
    fence_before(fence, "add.s64 gshare$sym, gshare$globals, %lld; ",
                 (long long)(fence_place(o->sym.var) + (uint64_t)o->sym.offset));
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
    begin(fence, &lexer);
    skip_opcode(&lexer, &t);
    while (!is_end(&t) && left) {
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

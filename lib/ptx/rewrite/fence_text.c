/* Finds operands in the text of an instruction, and edits them. The names in the text are the
 * tenant's own, within their scope; the names in the IR were made unique. Depends on no other part
 * of the fence. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ptx/read/lex.h"
#include "ptx/rewrite/fence.h"

bool fence_is_reserved_name(const char *name)
{
    return !strncmp(name, REWRITE_PREFIX, strlen(REWRITE_PREFIX));
}

bool fence_is_gshare_function(const struct ptx_func *f)
{
    return fence_is_reserved_name(f->name) ||
           !strncmp(f->name, FENCE_GSHARE_FUNCTION, strlen(FENCE_GSHARE_FUNCTION));
}

bool fence_is_added_register(const struct ptx_func *f, uint32_t reg)
{
    char name[256];

    return fence_is_reserved_name(ptx_reg_name(f, reg, name, sizeof(name)));
}

bool fence_refuse(struct fence *fence, uint32_t line, const char *format, ...)
{
    char *reason = fence->report->reason;
    size_t size = sizeof(fence->report->reason), used;
    va_list arguments;

    if (fence->refused)
        return false;
    fence->refused = true;
    used = line ? (size_t)snprintf(reason, size, "line %u: ", line) : 0;
    va_start(arguments, format);
    vsnprintf(reason + used, size - used, format, arguments);
    va_end(arguments);
    return false;
}

static void begin(const struct fence *fence, struct lexer *lexer)
{
    lexer_init(lexer, fence->text + fence->inst->begin, fence->inst->end - fence->inst->begin);
}

bool fence_token_is_end(const struct token *t)
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
    for (lexer_next(&lexer, &t); !fence_token_is_end(&t); lexer_next(&lexer, &t)) {
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

/* T becomes the opcode with its modifiers. */
static void find_opcode(struct lexer *lexer, struct token *t)
{
    lexer_next(lexer, t);
    if (t->kind == '@') {
        lexer_next(lexer, t);
        if (t->kind == '!')
            lexer_next(lexer, t);
        lexer_next(lexer, t);
    }
    lexer_extend_mnemonic(lexer, t);
}

void fence_operands(const struct fence *fence, struct lexer *lexer, struct token *t)
{
    begin(fence, lexer);
    find_opcode(lexer, t);
    lexer_next(lexer, t);
}

struct fence_span fence_opcode(const struct fence *fence)
{
    struct lexer lexer;
    struct token t;

    begin(fence, &lexer);
    find_opcode(&lexer, &t);
    lexer_deinit(&lexer);
    return (struct fence_span){t.text, t.len};
}

struct fence_span fence_operand(const struct fence *fence, unsigned n)
{
    struct fence_span span = {NULL, 0};
    struct lexer lexer;
    struct token t;
    unsigned at = 0;
    int depth = 0;

    for (fence_operands(fence, &lexer, &t); !fence_token_is_end(&t); lexer_next(&lexer, &t)) {
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

void fence_remove(struct fence *fence)
{
    edits_replace(&fence->edits, fence->inst->begin, fence->inst->end, "");
}

void fence_before(struct fence *fence, const char *format, ...)
{
    const char *text;
    va_list arguments;

    va_start(arguments, format);
    text = edits_vtext(&fence->edits, format, arguments);
    va_end(arguments);
    edits_insert(&fence->edits, fence->inst->begin, text);
}

/* The pass that lets a fenced kernel synchronise its grid. The address of the barrier's memory is
 * in %envreg1 (upper half) and %envreg2. It is the driver's memory and in nobody's window, so the
 * fence would redirect the accesses. The pass adds a variable to the module instead, which the
 * fence moves into the window like the tenant's own, and makes the kernel read its address where it
 * reads the driver's:
 *
 *     mov.u32 %r1, %envreg2;      becomes      mov.u32 %r1, gshare$envreg2;
 *
 * A prologue in each function sets the register. Without a cooperative launch it stays 0, as
 * grid_group::is_valid() expects. All grids of a module share the variable: whoever launches them
 * runs them one after the other, and zeroes it before each.
 *
 * It works on tokens within the functions that the reader found; the fence checks the result. */
#include <assert.h>
#include <string.h>

#include "ptx/read/lex.h"
#include "ptx/rewrite/grid.h"
#include "ptx/rewrite/pass.h"

static const char variable[] = " .global .align 16 .b8 " GRID_VARIABLE "[16];";
static_assert(GRID_BYTES == 16, "as the variable");
static const char prologue[] =
    " .reg .b32 gshare$envreg1, gshare$envreg2, gshare$either; .reg .b64 gshare$grid_at;"
    " .reg .pred gshare$together;"
    " mov.u32 gshare$envreg1, %envreg1; mov.u32 gshare$envreg2, %envreg2;"
    " or.b32 gshare$either, gshare$envreg1, gshare$envreg2;"
    " setp.ne.u32 gshare$together, gshare$either, 0;"
    " mov.u64 gshare$grid_at, " GRID_VARIABLE ";"
    " cvta.global.u64 gshare$grid_at, gshare$grid_at;"
    " @gshare$together mov.b64 {gshare$envreg2, gshare$envreg1}, gshare$grid_at;";

static void take_function(struct rewrite *rw, const struct ptx_func *f)
{
    static const char *const names[] = {"%envreg1", "%envreg2"};
    static const char *const registers[] = {"gshare$envreg1", "gshare$envreg2"};
    struct lexer lexer;
    struct token t;

    edits_insert(&rw->edits, f->body_begin, prologue);
    lexer_init(&lexer, rw->text + f->body_begin, f->body_end - f->body_begin);
    for (lexer_next(&lexer, &t); t.kind != TOK_EOF && t.kind != TOK_BAD; lexer_next(&lexer, &t))
        for (unsigned i = 0; t.kind == TOK_IDENT && i < 2; i++)
            if (t.len == strlen(names[i]) && !memcmp(t.text, names[i], t.len)) {
                size_t at = (size_t)(t.text - rw->text);

                edits_replace(&rw->edits, at, at + t.len, registers[i]);
            }
    lexer_deinit(&lexer);
}

static bool maybe(const char *text, size_t len)
{
    return memmem(text, len, "%envreg", strlen("%envreg")) != NULL;
}

static bool run(struct rewrite *rw)
{
    const struct ptx_module *m = rewrite_module(rw);
    const size_t begin = rewrite_head_end(rw->text, rw->len);
    bool any = false;

    if (!m || !begin)
        return false;
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        if (!m->funcs[i]->has_body || !grid_reads_workspace(m->funcs[i]))
            continue;
        take_function(rw, m->funcs[i]);
        any = true;
    }
    if (any)
        edits_insert(&rw->edits, begin, variable);
    return any;
}

const struct pass grid_pass_rules = {.bit = PTX_PASS_GRID, .maybe = maybe, .run = run};

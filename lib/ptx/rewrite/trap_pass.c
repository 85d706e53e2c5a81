/* The pass that keeps a trap, a breakpoint or a failed assertion from ending other tenants' work:
 * on the device each of them ends the context, for all, and an H200 takes 0.2 s to report an
 * assertion, 3 s for a trap. In a module with this pass
 *
 *     @%p trap;                  becomes   @%p call gshare$trapped, (WHERE); @%p exit;
 *     @%p call __assertfail, (...);   gets behind it   the same
 *
 * and gshare$trapped (fault_text.c) writes the session's fault note and ends the thread by exit.
 * The exit behind the call tells the compiler so: it would keep values for what follows otherwise,
 * and a kernel of ten assertions took 120 registers instead of 80 (94 without the pass), so that
 * blocks of 512 threads no longer fitted.
 * The assertion's message was printed before (printf_pass.c). The kernel's other threads continue;
 * a barrier of the block or warp does not wait for threads that have ended.
 *
 * If strays are recorded, the pass also adds gshare$stray, which the fence calls. */
#include <string.h>

#include "ptx/rewrite/fault_text.h"
#include "ptx/rewrite/pass.h"

static bool is_assert(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_CALL && inst->ops[1].kind == PTX_OPND_FUNC &&
           !inst->ops[1].func->has_body && !strcmp(inst->ops[1].func->name, "__assertfail");
}

bool trap_pass_ends(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_TRAP || inst->op == PTX_OP_BRKPT || is_assert(inst);
}

static void take(struct rewrite *rw, const struct ptx_func *f, const struct ptx_inst *inst)
{
    const enum fault_what what = is_assert(inst) ? FAULT_ASSERT : FAULT_TRAP;
    bool negated = false;
    size_t len = 0;
    const char *name = rewrite_guard(rw->text, inst, &len, &negated);
    const char *guard =
        !name ? "" : edits_text(&rw->edits, "@%s%.*s ", negated ? "!" : "", (int)len, name);
    const char *call = edits_text(&rw->edits, " %scall gshare$trapped, (%llu); %sexit;", guard,
                                  (unsigned long long)fault_where(what, f, inst->line), guard);

    edits_replace(&rw->edits, what == FAULT_TRAP ? inst->begin : inst->end, inst->end, call);
}

bool trap_pass_serves(struct rewrite *rw)
{
    const struct ptx_module *m = rw->passes & PTX_PASS_TRAP ? rewrite_module(rw) : NULL;

    return m && m->address_size == 64 && m->nfuncs < FAULT_FUNCTIONS_MAX &&
           rewrite_head_end(rw->text, rw->len) && rewrite_constants_fit(m);
}

/* A search for words, so that a module without them is not parsed. */
static bool has_words(const struct rewrite *rw)
{
    return memmem(rw->text, rw->len, "trap", 4) || memmem(rw->text, rw->len, "brkpt", 5) ||
           memmem(rw->text, rw->len, "__assertfail", 12);
}

static bool run(struct rewrite *rw)
{
    const struct ptx_module *m;
    size_t head;
    bool any = false;

    if ((!(rw->passes & PTX_PASS_STRAYS) && !has_words(rw)) || !trap_pass_serves(rw))
        return false;
    m = rewrite_module(rw);
    head = rewrite_head_end(rw->text, rw->len);
    for (uint32_t i = 0; i < m->nfuncs; i++)
        for (uint32_t k = 0; k < m->funcs[i]->ninsts; k++)
            if (trap_pass_ends(&m->funcs[i]->insts[k])) {
                take(rw, m->funcs[i], &m->funcs[i]->insts[k]);
                any = true;
            }
    edits_insert(&rw->edits, head, fault_variable_text);
    if (any)
        edits_insert(&rw->edits, head, fault_trapped_text);
    if (rw->passes & PTX_PASS_STRAYS)
        edits_insert(&rw->edits, head, fault_stray_text);
    rw->edits.failed |= any && !fault_names_init(&rw->report->traps, m);
    return any || rw->passes & PTX_PASS_STRAYS;
}

static void dropped(struct rewrite *rw)
{
    fault_names_deinit(&rw->report->traps);
}

const struct pass trap_pass_rules = {.bit = PTX_PASS_TRAP, .run = run, .dropped = dropped};

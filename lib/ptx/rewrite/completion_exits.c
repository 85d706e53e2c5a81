/* The ends of a kernel: each ret and exit becomes a branch to an epilogue behind the last
 * instruction, where a kernel may also fall off its end.
 *
 * One epilogue serves all ends where no thread waits for others. Where some do, it matters that
 * threads which return early are gone: bar.sync counts the threads that have not ended, and a
 * shfl.sync waits for those of its mask. The compiler has threads of a warp that part at a branch
 * wait for each other where their ways meet again. A ret ends the ways; a shared epilogue would be
 * a place to meet, before which the early ones wait for the late ones, who wait for them in a
 * barrier. So in such a kernel each way to an end has an epilogue of its own: each ret, and each
 * branch to one, which is what compilers make of an early return.
 */
#include <string.h>

#include "ptx/lex.h"
#include "ptx/rewrite/completion.h"

enum {
    MAX_EPILOGUES = 16, /* 20 machine instructions each */
    MAX_HOPS = 64       /* of branches to branches */
};

/* Threads that arrive together, and are all of the grid, are ordered by a barrier of their warp:
 * one of them goes on. Others count themselves by an acquire and release on the counter, and the
 * last of the grid goes on; the compiler makes one addition of a warp's. Its release at system
 * scope then covers what all of them wrote. No barrier of the warp here: threads of it that go
 * another way may wait in one.
 *
 * The clock is read before the word is stored and the mark stored after it, as the worker's
 * completing kernel does. The word is the last thing that counts for the tenant, so the counter is
 * put back before it. */
static const char epilogue[] =
    "{ .reg .pred gshare$p; .reg .b32 gshare$m, gshare$n, gshare$t; "
    ".reg .b64 gshare$w, gshare$a, gshare$v; "
    "ld.param.u64 gshare$w, [gshare$done]; setp.eq.u64 gshare$p, gshare$w, 0; @gshare$p exit; "
    "ld.param.u32 gshare$t, [gshare$done+40]; "
    "activemask.b32 gshare$m; popc.b32 gshare$n, gshare$m; "
    "setp.eq.u32 gshare$p, gshare$n, gshare$t; @gshare$p bra gshare$alone; "
    "ld.param.u64 gshare$a, [gshare$done+32]; "
    "atom.acq_rel.gpu.global.add.u32 gshare$n, [gshare$a], 1; add.u32 gshare$n, gshare$n, 1; "
    "setp.ne.u32 gshare$p, gshare$n, gshare$t; @gshare$p exit; "
    "st.relaxed.gpu.global.u32 [gshare$a], 0; bra gshare$last; "
    "gshare$alone: bar.warp.sync gshare$m; mov.u32 gshare$n, %lanemask_lt; "
    "and.b32 gshare$n, gshare$n, gshare$m; setp.ne.u32 gshare$p, gshare$n, 0; @gshare$p exit; "
    "gshare$last: mov.u64 gshare$v, %globaltimer; shl.b64 gshare$v, gshare$v, 24; "
    "ld.param.u64 gshare$a, [gshare$done+8]; st.release.sys.global.u64 [gshare$w], gshare$a; "
    "ld.param.u64 gshare$a, [gshare$done+24]; or.b64 gshare$v, gshare$v, gshare$a; "
    "ld.param.u64 gshare$a, [gshare$done+16]; st.relaxed.sys.global.u64 [gshare$a], gshare$v; "
    "exit; }";
enum { EPILOGUE_REGS = 7 };

static bool is_exit(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_RET || inst->op == PTX_OP_EXIT;
}

/* Control does not pass the instruction. */
static bool is_last(const struct ptx_inst *inst)
{
    return inst->guard == PTX_NO_REG &&
           (is_exit(inst) || inst->op == PTX_OP_BRA || inst->op == PTX_OP_BRX_IDX);
}

/* Nothing but an end follows from instruction AT on. */
static bool leads_to_end(const struct ptx_func *f, uint32_t at)
{
    for (unsigned hops = 0; at < f->ninsts && hops < MAX_HOPS;) {
        const struct ptx_inst *inst = &f->insts[at];

        if (inst->op == PTX_OP_PRAGMA) {
            at++;
        } else if (inst->op == PTX_OP_BRA && inst->guard == PTX_NO_REG) {
            at = f->labels[inst->ops[0].label].inst;
            hops++;
        } else {
            return is_exit(inst) && inst->guard == PTX_NO_REG;
        }
    }
    return at >= f->ninsts;
}

static bool is_way_to_end(const struct ptx_func *f, const struct ptx_inst *inst, bool waits)
{
    if (is_exit(inst))
        return true;
    return waits && inst->op == PTX_OP_BRA && leads_to_end(f, f->labels[inst->ops[0].label].inst);
}

static bool table_leads_to_end(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->ntables; i++)
        for (uint32_t k = 0; !f->tables[i].calls && k < f->tables[i].count; k++)
            if (leads_to_end(f, f->labels[f->tables[i].labels[k]].inst))
                return true;
    return false;
}

/* Where the opcode begins in the text: behind the guard, if there is one. */
static size_t opcode_at(const struct rewrite *rw, const struct ptx_inst *inst)
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

/* Ends to lead to an epilogue, and whether control falls off the last instruction too. */
static uint32_t count_ways(const struct ptx_func *f, bool waits, bool *falls)
{
    uint32_t ways = 0;

    for (uint32_t i = 0; i < f->ninsts; i++)
        ways += is_way_to_end(f, &f->insts[i], waits);
    *falls = !f->ninsts || !is_last(&f->insts[f->ninsts - 1]);
    return ways;
}

bool completion_exits(struct rewrite *rw, const struct ptx_func *f, bool waits,
                      struct obstacle *obstacle)
{
    bool falls;
    uint32_t ways = count_ways(f, waits, &falls), next = falls;
    uint32_t epilogues = waits ? ways + falls : ways + falls > 0;

    *obstacle = (struct obstacle){.line = f->line};
    if (!epilogues)
        obstacle->what = "the kernel has no end";
    else if (epilogues > MAX_EPILOGUES)
        obstacle->what = "the kernel waits for threads and returns at more than 16 places";
    else if (waits && table_leads_to_end(f))
        obstacle->what = "the kernel waits for threads and returns by a table of branches";
    else if (f->nregs + epilogues * EPILOGUE_REGS > PTX_MAX_REGS)
        obstacle->what = "the kernel has too many registers";
    if (obstacle->what)
        return false;
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (is_way_to_end(f, &f->insts[i], waits))
            edits_replace(
                &rw->edits, opcode_at(rw, &f->insts[i]), f->insts[i].end,
                edits_text(&rw->edits, "bra " REWRITE_PREFIX "end%u;", waits ? next++ : 0));
    for (uint32_t i = 0; i < epilogues; i++) {
        edits_insert(&rw->edits, f->body_end,
                     edits_text(&rw->edits, "%s" REWRITE_PREFIX "end%u: ", i ? " " : "", i));
        edits_insert(&rw->edits, f->body_end, epilogue);
    }
    return true;
}

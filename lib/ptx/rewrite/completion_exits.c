/* The ends of a kernel: each ret and exit becomes a branch to an epilogue behind the last
 * instruction, which control also reaches by falling off the end.
 *
 * One epilogue serves all ends, unless that makes threads that had returned early wait for others
 * which wait for them to be gone (flow.h): then the exits that do so get epilogues of their own.
 * Compilers generate branches to a ret, which are exits too, for an early return. */
#include <stdlib.h>
#include <string.h>

#include "ptx/rewrite/completion.h"
#include "ptx/rewrite/flow.h"

/* A barrier orders the threads of a warp that arrive together, and one of them goes on for all: an
 * atomic addition for each thread would take 0.7 ns of the device on an H200. If they are the whole
 * grid, that thread is the last one. Otherwise it adds their number to the counter, with acquire
 * and release, and the last thread of the grid goes on. Its release at system scope then covers
 * everything that they wrote.
 *
 * Tenants wait for the word, so it is stored first; the clock, the fence and the counter follow.
 * The counter is reset before the kernel ends, since kernels of one stream follow one another. */
static const char epilogue[] =
    "{ .reg .pred gshare$p; .reg .b32 gshare$m, gshare$n, gshare$t; "
    ".reg .b64 gshare$w, gshare$a, gshare$v; "
    "ld.param.u64 gshare$w, [gshare$done]; setp.eq.u64 gshare$p, gshare$w, 0; @gshare$p exit; "
    "activemask.b32 gshare$m; bar.warp.sync gshare$m; mov.u32 gshare$n, %lanemask_lt; "
    "and.b32 gshare$n, gshare$n, gshare$m; setp.ne.u32 gshare$p, gshare$n, 0; @gshare$p exit; "
    "popc.b32 gshare$n, gshare$m; ld.param.u32 gshare$t, [gshare$done+40]; "
    "setp.eq.u32 gshare$p, gshare$n, gshare$t; @gshare$p bra gshare$last; "
    "ld.param.u64 gshare$a, [gshare$done+32]; "
    "atom.acq_rel.gpu.global.add.u32 gshare$m, [gshare$a], gshare$n; "
    "add.u32 gshare$m, gshare$m, gshare$n; "
    "setp.ne.u32 gshare$p, gshare$m, gshare$t; @gshare$p exit; "
    "gshare$last: ld.param.u64 gshare$a, [gshare$done+8]; "
    "st.release.sys.global.u64 [gshare$w], gshare$a; "
    "mov.u64 gshare$v, %globaltimer; shl.b64 gshare$v, gshare$v, 24; "
    "ld.param.u64 gshare$a, [gshare$done+24]; or.b64 gshare$v, gshare$v, gshare$a; "
    "ld.param.u64 gshare$a, [gshare$done+16]; st.relaxed.sys.global.u64 [gshare$a], gshare$v; "
    "ld.param.u64 gshare$a, [gshare$done+32]; st.relaxed.gpu.global.u32 [gshare$a], 0; "
    "exit; }";

/* A kernel with griddepcontrol may be launched as a programmatic dependent, before the kernels that
 * it depends on have ended, and CUDA does not guarantee that it ends after them. With this
 * instruction at each end, no thread of the kernel ends before those kernels have, nor before the
 * kernels that those depend on, since they wait in the same way. So a chain of such kernels has
 * ended when its last one has. A kernel that signals nothing must wait, too, so the instruction
 * comes before the test of the word. It does nothing in a kernel that was launched otherwise. */
static const char await[] = "griddepcontrol.wait; ";

/* Finds all exits of F, in the order of instructions, and sets *COUNT. BRANCHES: a branch to a ret
 * counts as an exit itself. NULL: no memory. */
static struct flow_exit *find_exits(const struct ptx_func *f, bool branches, uint32_t *count)
{
    struct flow_exit *exits = malloc(((size_t)f->ninsts + 1) * sizeof(*exits));
    uint32_t n = 0;

    if (!exits)
        return NULL;
    for (uint32_t i = 0; i < f->ninsts; i++) {
        const struct ptx_inst *inst = &f->insts[i];

        if (flow_is_exit(inst) || (branches && inst->op == PTX_OP_BRA &&
                                   flow_leads_to_end(f, f->labels[inst->ops[0].label].inst)))
            exits[n++] = (struct flow_exit){.inst = i};
    }
    if (!f->ninsts || !flow_stops(&f->insts[f->ninsts - 1]))
        exits[n++] = (struct flow_exit){.inst = f->ninsts};
    *count = n;
    return exits;
}

/* Assigns epilogues to the exits and returns the number of epilogues. Falling off the end leads to
 * the first one, which follows the last instruction. ALL: each other exit gets an epilogue of its
 * own; otherwise only exits whose threads are held do. */
static uint32_t part_exits(struct flow_exit *exits, uint32_t count, bool all)
{
    uint32_t ends = 1;

    for (uint32_t i = 0; i < count; i++) {
        if (i + 1 < count && (all || exits[i].held))
            exits[i].end = ends++;
    }
    return ends;
}

/* Assigns separate epilogues until no thread is held that others wait for. Returns the number of
 * epilogues; 0: it is impossible, or there is no memory. */
static uint32_t part_until_free(struct rewrite *rw, const struct ptx_func *f, const bool *waits,
                                struct flow_exit *exits, uint32_t count, struct obstacle *obstacle)
{
    struct flow *flow = flow_new(f, waits);
    enum flow_verdict verdict = flow ? flow_check(flow, exits, count, 1) : FLOW_NO_MEMORY;
    uint32_t ends = 1;

    for (unsigned all = 0; all < 2 && verdict == FLOW_HELD; all++) {
        ends = part_exits(exits, count, all);
        if (ends > COMPLETION_MAX_EPILOGUES)
            break;
        verdict = flow_check(flow, exits, count, ends);
    }
    flow_free(flow);
    rw->edits.failed |= verdict == FLOW_NO_MEMORY;
    if (ends > COMPLETION_MAX_EPILOGUES)
        obstacle->what = "threads return at more than 16 places while others wait";
    else if (verdict == FLOW_HELD)
        obstacle->what = "threads at its end may be waited for, as in the last loop";
    else if (verdict != FLOW_FREE)
        obstacle->what = "its branches are too tangled";
    return obstacle->what ? 0 : ends;
}

static void edit_exits(struct rewrite *rw, const struct ptx_func *f, const struct flow_exit *exits,
                       uint32_t count, uint32_t ends, bool depends)
{
    for (uint32_t i = 0; i < count; i++) {
        if (exits[i].inst == f->ninsts) /* control falls off the end */
            continue;
        const struct ptx_inst *inst = &f->insts[exits[i].inst];
        edits_replace(&rw->edits, rewrite_opcode_at(rw, inst), inst->end,
                      edits_text(&rw->edits, "bra " REWRITE_PREFIX "end%u;", exits[i].end));
    }
    for (uint32_t i = 0; i < ends; i++) {
        edits_insert(&rw->edits, f->body_end,
                     edits_text(&rw->edits, "%s" REWRITE_PREFIX "end%u: %s", i ? " " : "", i,
                                depends ? await : ""));
        edits_insert(&rw->edits, f->body_end, epilogue);
    }
}

bool completion_exits(struct rewrite *rw, const struct ptx_func *f, const bool *waits, bool depends,
                      struct obstacle *obstacle)
{
    uint32_t count = 0, ends = 1;
    struct flow_exit *exits = find_exits(f, waits != NULL, &count);

    *obstacle = (struct obstacle){.line = f->line};
    if (!exits)
        rw->edits.failed = true;
    else if (!count)
        obstacle->what = "the kernel has no end";
    else if (waits)
        ends = part_until_free(rw, f, waits, exits, count, obstacle);
    if (f->nregs + ends * COMPLETION_EPILOGUE_REGS > PTX_MAX_REGS)
        obstacle->what = "the kernel has too many registers";
    if (exits && !obstacle->what)
        edit_exits(rw, f, exits, count, ends, depends);
    free(exits);
    return !obstacle->what && !rw->edits.failed;
}

// Calls, and the stack of a thread, which is bounded by what the block gave each thread.
#include "softcuda/interp/path.h"

// ---- Calls

static int call(struct warp *w, const struct insn *in, const struct code *code)
{
    struct path *p = &w->paths[w->current];
    const uint32_t *aux = w->frame->code->aux + in->aux;
    uint64_t base = (uint64_t)w->frame->local_top + CALL_STACK_BYTES;
    if (base + code->local_bytes > w->block->local_bytes)
        return warp_fault(w, in, w->mask, EXEC_FAULT_STACK, 0);
    struct frame *f = frame_new(w, code);
    if (!f)
        return warp_fault(w, in, w->mask, EXEC_FAULT_NO_MEMORY, 0);
    f->up = w->frame;
    f->local_base = (uint32_t)base;
    f->local_top = (uint32_t)(base + code->local_bytes);
    f->return_pc = w->pc;
    f->ret_to = aux;
    f->done = (struct join){.up = p->join, .frame = f, .pc = NO_TARGET, .want = w->mask};
    frame_copy_arguments(w, f, aux, w->mask);
    p->frame = f;
    p->join = &f->done;
    p->pc = 0;
    p->mask = w->mask;
    warp_load_path(w, w->current);
    return STEP_NEXT;
}

int op_call(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct code *code = w->block->program->codes[in->target];
    if (!code) // the function could not be lowered: see shared_layout_spread
        return warp_fault(w, in, mask, EXEC_FAULT_INVALID_PC, 0);
    return call(w, in, code);
}

int op_call_indirect(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct exec_program *program = w->block->program;
    const u64 *pa = SLOT(u64, w, in->a);
    unsigned first = (unsigned)__builtin_ctz(mask);
    uint64_t target = pa[first], id = (target - MEM_FUNCTION_WINDOW) / FUNCTION_STRIDE - 1;
    if (target < MEM_FUNCTION_WINDOW + FUNCTION_STRIDE || target % FUNCTION_STRIDE ||
        id >= program->module->nfuncs || !program->codes[id] || program->module->funcs[id]->entry)
        return warp_fault(w, in, 1u << first, EXEC_FAULT_INVALID_PC, target);
    uint32_t same = 0;
    for (unsigned l = 0; l < LANES; l++)
        same |= (uint32_t)(pa[l] == target) << l;
    if (mask & ~same) { // lanes with other targets run this instruction again
        int step = warp_split(w, in, mask & ~same, w->pc - 1, in->d);
        if (step)
            return step;
    }
    return call(w, in, program->codes[id]);
}

// ---- The stack

int op_alloca(struct warp *w, const struct insn *in, uint32_t mask)
{
    const u64 *pa = SLOT(u64, w, in->a);
    uint64_t most = 0;
    for (unsigned l = 0; l < LANES; l++)
        if (mask >> l & 1 && pa[l] > most)
            most = pa[l];
    uint64_t align = in->imm < 16 ? 16 : in->imm;
    uint64_t at = ((uint64_t)w->frame->local_top + align - 1) / align * align;
    if (most > w->block->local_bytes || at + most > w->block->local_bytes)
        return warp_fault(w, in, mask, EXEC_FAULT_STACK, 0);
    w->frame->local_top = (uint32_t)((at + most + 15) / 16 * 16);
    for (unsigned l = 0; l < LANES; l++)
        if (mask >> l & 1) {
            if (in->type == PTX_T_U64)
                SLOT(u64, w, in->d)[l] = at;
            else
                SLOT(u32, w, in->d)[l] = (uint32_t)at;
        }
    return STEP_NEXT;
}

int op_stacksave(struct warp *w, const struct insn *in, uint32_t mask)
{
    for (unsigned l = 0; l < LANES; l++)
        if (mask >> l & 1) {
            if (in->type == PTX_T_U64)
                SLOT(u64, w, in->d)[l] = w->frame->local_top;
            else
                SLOT(u32, w, in->d)[l] = w->frame->local_top;
        }
    return STEP_NEXT;
}

// The stack only shrinks if all lanes of the activation are in this path: another path may still
// use the memory above.
int op_stackrestore(struct warp *w, const struct insn *in, uint32_t mask)
{
    const u64 *pa = SLOT(u64, w, in->a);
    uint64_t most = 0;
    for (unsigned l = 0; l < LANES; l++)
        if (mask >> l & 1 && pa[l] > most)
            most = pa[l];
    if (mask != w->frame->done.want)
        return STEP_NEXT;
    uint32_t floor = w->frame->local_base + w->frame->code->local_bytes;
    if (most >= floor && most <= w->frame->local_top)
        w->frame->local_top = (uint32_t)most;
    return STEP_NEXT;
}

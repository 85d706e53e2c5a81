/* The loops of a function, found by backward jumps in its text: fence_base.c and fence_walk.c
 * change code where it pays in a loop. */
#include <stdlib.h>

#include "ptx/rewrite/fence.h"

/* The lowest instruction to which a jump may go; the instruction behind the jump if it does not go
 * back. */
static uint32_t jumps_to(const struct ptx_func *f, uint32_t i)
{
    const struct ptx_inst *inst = &f->insts[i];
    uint32_t to = i + 1;

    if (inst->op == PTX_OP_BRA && inst->ops[0].kind == PTX_OPND_LABEL)
        return f->labels[inst->ops[0].label].inst;
    if (inst->op == PTX_OP_BRX_IDX) {
        const struct ptx_table *table = &f->tables[inst->ops[1].table];

        for (uint32_t k = 0; k < table->count; k++)
            if (f->labels[table->labels[k]].inst < to)
                to = f->labels[table->labels[k]].inst;
    }
    return to;
}

static void forget_loops(struct fence *fence)
{
    free(fence->loop);
    free(fence->loop_end);
    fence->loop = fence->loop_end = NULL;
}

void fence_loops_begin(struct fence *fence)
{
    const struct ptx_func *f = fence->f;

    forget_loops(fence);
    fence->loop = calloc((size_t)f->ninsts + 1, sizeof(*fence->loop));
    fence->loop_end = calloc((size_t)f->ninsts + 1, sizeof(*fence->loop_end));
    if (!fence->loop || !fence->loop_end) {
        forget_loops(fence);
        return;
    }
    for (uint32_t i = 0; i < f->ninsts; i++) {
        const uint32_t to = jumps_to(f, i);

        for (uint32_t k = to; k <= i; k++) {
            fence->loop[k] = fence->loop[k] > to + 1 ? fence->loop[k] : to + 1;
            if (++fence->loop_work > FENCE_LOOP_WORK) {
                forget_loops(fence);
                return;
            }
        }
    }
    for (uint32_t i = 0; i < f->ninsts; i++)
        fence->loop_end[fence->loop[i]] = i + 1;
}

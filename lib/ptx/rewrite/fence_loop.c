/* Loops, as far as the text's order shows them: from the target of each jump back to the jump. An
 * instruction in none of them runs once in a call at most. */
#include <stdlib.h>

#include "ptx/rewrite/fence.h"

enum { MOST_LOOP_WORK = 1 << 22 }; /* marks of all loops of the module together */

/* The first instruction that a jump may go to; one behind it: it does not go back. */
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

bool fence_loops_begin(struct fence *fence)
{
    const struct ptx_func *f = fence->f;

    free(fence->loop);
    fence->loop = calloc((size_t)f->ninsts + 1, sizeof(*fence->loop));
    if (!fence->loop)
        return false;
    for (uint32_t i = 0; i < f->ninsts; i++) {
        const uint32_t to = jumps_to(f, i);

        for (uint32_t k = to; k <= i; k++) {
            fence->loop[k] = fence->loop[k] > to + 1 ? fence->loop[k] : to + 1;
            if (++fence->loop_work > MOST_LOOP_WORK) {
                free(fence->loop);
                fence->loop = NULL;
                return true;
            }
        }
    }
    return true;
}

/* Products of warpgroups (wgmma), whose sums are written later than the instruction.
 *
 * The compiler keeps the registers of a product free until somebody waits for it. What becomes of
 * them where nobody does is nowhere written, and the address of a fence could be in one. So in
 * fenced code each product is waited for before a label, and before anything but products and
 * arithmetic that touches none of their registers:
 *
 *     wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
 *
 * The program's own wait may come later, and finds nothing to wait for. */
#include <stdlib.h>

#include "ptx/rewrite/fence.h"

bool fence_products_begin(struct fence *fence)
{
    free(fence->summed);
    fence->summed = calloc((size_t)fence->f->nregs + 1, sizeof(*fence->summed));
    fence->product = NULL;
    fence->run = 1;
    return fence->summed;
}

/* The registers of a product, which are lists; a descriptor is read at once. */
static void mark(struct fence *fence, const struct ptx_operand *o)
{
    for (uint32_t i = 0; o->kind == PTX_OPND_VEC && i < o->count; i++)
        if (o->list[i].kind == PTX_OPND_REG)
            fence->summed[o->list[i].reg] = fence->run;
}

/* Whether the operand has a register of a product under way. */
static bool touches(const struct fence *fence, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPND_REG)
        return fence->summed[o->reg] == fence->run;
    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST) && i < o->count; i++)
        if (touches(fence, &o->list[i]))
            return true;
    return false;
}

static bool same_registers(const struct ptx_operand *a, const struct ptx_operand *b)
{
    bool same = a->count == b->count;

    for (uint32_t i = 0; same && i < a->count; i++)
        same = a->list[i].kind == PTX_OPND_REG && b->list[i].kind == PTX_OPND_REG &&
               a->list[i].reg == b->list[i].reg;
    return same;
}

/* Whether the instruction may come before the products under way are waited for. */
static bool may_follow(const struct fence *fence, const struct ptx_inst *inst)
{
    const enum ptx_class class = ptx_op_class(inst->op);

    if (class != PTX_CLASS_WGMMA && class != PTX_CLASS_ARITH)
        return false;
    for (unsigned k = 0; k < inst->nops; k++) {
        /* A product may add to the sums of the one before it: they follow each other. */
        const bool adds = inst->op == PTX_OP_WGMMA && !k &&
                          same_registers(&inst->ops[0], &fence->product->ops[0]);

        if (inst->ops[k].kind == PTX_OPND_MEM || (!adds && touches(fence, &inst->ops[k])))
            return false;
    }
    return true;
}

static void settle(struct fence *fence)
{
    fence->product = NULL;
    fence->run++;
}

bool fence_products(struct fence *fence, uint32_t i)
{
    const struct ptx_inst *inst = i < fence->f->ninsts ? &fence->f->insts[i] : NULL;

    /* Behind the instruction before this one, since a label would stand in front of the wait. */
    if (fence->product && (!inst || fence->labelled[i] || !may_follow(fence, inst))) {
        edits_insert(&fence->edits, fence->f->insts[i - 1].end,
                     fence->committed
                         ? " wgmma.wait_group.sync.aligned 0;"
                         : " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
        settle(fence);
    }
    if (!inst || ptx_op_class(inst->op) != PTX_CLASS_WGMMA)
        return true;
    if (inst->guard != PTX_NO_REG)
        return fence_refuse(fence, inst->line, "%s: with a predicate", ptx_op_name(inst->op));
    if (inst->op == PTX_OP_WGMMA) {
        mark(fence, &inst->ops[0]);
        mark(fence, &inst->ops[1]);
        fence->product = inst;
        fence->committed = false;
    }
    fence->committed |= inst->op == PTX_OP_WGMMA_COMMIT;
    if (fence->product && fence->committed && inst->op == PTX_OP_WGMMA_WAIT && !inst->ops[0].imm)
        settle(fence);
    return true;
}

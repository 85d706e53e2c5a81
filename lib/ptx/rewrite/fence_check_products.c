/* The checker's part for products of warpgroups: point 9 of fence_check.c. */
#include "ptx/rewrite/fence_check.h"

/* The registers that the product writes, and reads as a matrix, are its own until it is waited for.
 */
static void take_registers(struct checker *c, const struct ptx_inst *product)
{
    for (unsigned k = 0; k < 2; k++)
        for (uint32_t i = 0; product->ops[k].kind == PTX_OPND_VEC && i < product->ops[k].count; i++)
            if (product->ops[k].list[i].kind == PTX_OPND_REG)
                c->taken[product->ops[k].list[i].reg] = c->products;
}

static bool is_taken(const struct checker *c, const struct ptx_operand *o)
{
    bool taken = o->kind == PTX_OPND_REG && c->taken[o->reg] == c->products;

    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST) && i < o->count; i++)
        taken |= is_taken(c, &o->list[i]);
    return taken;
}

/* Each register of the one list is that of the other. */
static bool is_same_list(const struct ptx_operand *a, const struct ptx_operand *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->list[i].kind != PTX_OPND_REG || b->list[i].kind != PTX_OPND_REG ||
            a->list[i].reg != b->list[i].reg)
            return false;
    return true;
}

/* The instruction may run while the last product is under way. */
static bool is_harmless(const struct checker *c, const struct ptx_inst *inst)
{
    switch (inst->op) {
    case PTX_OP_WGMMA_FENCE:
    case PTX_OP_WGMMA_COMMIT:
    case PTX_OP_WGMMA_WAIT:
        return true;
    case PTX_OP_WGMMA:
        return (is_same_list(&inst->ops[0], &c->under_way->ops[0]) ||
                !is_taken(c, &inst->ops[0])) &&
               !is_taken(c, &inst->ops[1]) && !is_taken(c, &inst->ops[2]);
    default:
        if (ptx_op_class(inst->op) != PTX_CLASS_ARITH)
            return false;
        for (unsigned k = 0; k < inst->nops; k++)
            if (inst->ops[k].kind == PTX_OPND_MEM || is_taken(c, &inst->ops[k]))
                return false;
        return true;
    }
}

const char *checker_product(struct checker *c, uint32_t i)
{
    const struct ptx_inst *inst = i < c->f->ninsts ? &c->f->insts[i] : NULL;

    if (c->under_way && (!inst || c->labelled[i] || !is_harmless(c, inst)))
        return "a product may be under way";
    if (!inst || ptx_op_class(inst->op) != PTX_CLASS_WGMMA)
        return NULL;
    if (inst->guard != PTX_NO_REG)
        return "it may run or not";
    switch (inst->op) {
    case PTX_OP_WGMMA:
        c->products += !c->under_way;
        take_registers(c, inst);
        c->under_way = inst;
        c->grouped = false;
        return NULL;
    case PTX_OP_WGMMA_COMMIT:
        c->grouped = true;
        return NULL;
    case PTX_OP_WGMMA_WAIT:
        if (c->grouped && !inst->ops[0].imm)
            c->under_way = NULL;
        return NULL;
    case PTX_OP_WGMMA_FENCE:
        return NULL;
    default:
        return "not on the list";
    }
}

/* How addresses are computed: sums of a pointer and a 32-bit index or stride.
 *
 * Such an index leads only so far from its pointer, whatever its value: the sum's *bound*. If the
 * pointer is in the window and the bound is at most FENCE_REACH, the sum needs no fence: there is
 * no memory of others so near a window (fence_base.c, fence_step.c). */
#include "ptx/rewrite/definitions.h"
#include "ptx/rewrite/fence.h"

enum { MOST_STEPS = 64 }; /* steps back from an access to the terms of its address */

uint64_t fence_sum_bound(const struct fence_sum *sum)
{
    return (uint64_t)sum->factor << (sum->is_signed ? 31 : 32);
}

/* A search back from an access, over at most MOST_STEPS instructions in all. */
struct search {
    const struct fence *fence;
    uint32_t end;
};

static struct search search_from(const struct fence *fence, uint32_t at)
{
    return (struct search){fence, at > MOST_STEPS ? at - MOST_STEPS : 0};
}

/* The last instruction before AT that writes the register, if it always runs before AT; ninsts:
 * unknown. */
static uint32_t last_write(const struct search *search, uint32_t at, uint32_t reg)
{
    const struct ptx_func *f = search->fence->f;

    while (at > search->end && !search->fence->labelled[at]) {
        at--;
        if (definitions_writes(&f->insts[at], reg))
            return f->insts[at].guard == PTX_NO_REG ? at : f->ninsts;
    }
    return f->ninsts;
}

static bool is_reg(const struct ptx_operand *o)
{
    return o->kind == PTX_OPND_REG;
}

bool fence_is_product(const struct ptx_inst *inst, struct fence_sum *sum)
{
    const struct ptx_operand *o = &inst->ops[2];

    if (inst->mode != PTX_MODE_WIDE || (inst->type[0] != PTX_T_U32 && inst->type[0] != PTX_T_S32) ||
        o->kind != PTX_OPND_IMM || o->imm < 1 || o->imm > UINT8_MAX)
        return false;
    sum->factor = (unsigned)o->imm;
    sum->is_signed = inst->type[0] == PTX_T_S32;
    return fence_sum_bound(sum) <= FENCE_REACH;
}

bool fence_is_address(const struct fence *fence, const struct ptx_operand *o)
{
    return is_reg(o) && ptx_type_bits(fence->f->regs[o->reg].type) == 64;
}

bool fence_adds_addresses(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_ADD && !inst->flags &&
           (inst->type[0] == PTX_T_S64 || inst->type[0] == PTX_T_U64);
}

/* The instruction that writes the value of the register that instruction AT reads; NULL: unknown.
 */
static const struct ptx_inst *writer(const struct search *search, uint32_t at, uint32_t reg)
{
    const struct ptx_func *f = search->fence->f;
    const uint32_t by = last_write(search, at, reg);

    return by < f->ninsts && is_reg(&f->insts[by].ops[1]) ? &f->insts[by] : NULL;
}

static bool is_extended(const struct ptx_inst *inst, struct fence_sum *sum)
{
    sum->is_signed = inst->type[1] == PTX_T_S32;
    return inst->op == PTX_OP_CVT && ((inst->type[0] == PTX_T_U64 && inst->type[1] == PTX_T_U32) ||
                                      (inst->type[0] == PTX_T_S64 && inst->type[1] == PTX_T_S32));
}

static bool is_shifted(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_SHL && inst->type[0] == PTX_T_B64 &&
           inst->ops[2].kind == PTX_OPND_IMM && inst->ops[2].imm <= 3;
}

/* Whether the instruction computes SUM->index * SUM->factor. *WHERE: the instruction that reads the
 * index. */
static bool is_product(const struct search *search, const struct ptx_inst *inst,
                       struct fence_sum *sum, uint32_t *where)
{
    const struct ptx_inst *const first = search->fence->f->insts;

    sum->factor = 1;
    if (is_shifted(inst)) {
        sum->factor = 1u << inst->ops[2].imm;
        inst = writer(search, (uint32_t)(inst - first), inst->ops[1].reg);
        if (!inst || !is_extended(inst, sum))
            return false;
    }
    *where = (uint32_t)(inst - first);
    sum->index = inst->ops[1].reg;
    if (is_extended(inst, sum))
        return fence_sum_bound(sum) <= FENCE_REACH;
    return inst->op == PTX_OP_MUL && fence_is_product(inst, sum);
}

/* As is_product, for the value that instruction AT reads from the register. */
static bool is_scaled(const struct search *search, uint32_t at, uint32_t reg, struct fence_sum *sum,
                      uint32_t *where)
{
    const struct ptx_inst *inst = writer(search, at, reg);

    return inst && is_product(search, inst, sum, where);
}

/* Whether a product continues to read the register after the instruction; nothing may mention it
 * before the product was waited for (fence_products.c). */
static bool is_read_on(const struct ptx_inst *inst, uint32_t reg)
{
    const struct ptx_operand *o = &inst->ops[1];

    for (uint32_t i = 0; inst->op == PTX_OP_WGMMA && o->kind == PTX_OPND_VEC && i < o->count; i++)
        if (o->list[i].kind == PTX_OPND_REG && o->list[i].reg == reg)
            return true;
    return false;
}

/* Whether no instruction from WHERE to AT writes the register, and it may be mentioned at AT. */
static bool stays(const struct fence *fence, uint32_t where, uint32_t at, uint32_t reg)
{
    for (uint32_t i = where; i < at; i++)
        if (definitions_writes(&fence->f->insts[i], reg) || is_read_on(&fence->f->insts[i], reg))
            return false;
    return true;
}

/* Whether the register has 32 bits; a conversion may read a wider one. */
static bool is_32(const struct fence *fence, uint32_t reg)
{
    return ptx_type_bits(fence->f->regs[reg].type) == 32;
}

const struct ptx_inst *fence_stride(const struct fence *fence, uint32_t reg, struct fence_sum *sum)
{
    const struct ptx_inst *inst = definitions_only(fence->f, fence->definitions, reg);
    const uint32_t at = inst ? (uint32_t)(inst - fence->f->insts) : 0;
    const struct search search = search_from(fence, at);
    uint32_t where;

    return inst && is_reg(&inst->ops[1]) && is_product(&search, inst, sum, &where) &&
                   is_32(fence, sum->index) && stays(fence, where, at + 1, sum->index)
               ? inst
               : NULL;
}

bool fence_sum(const struct fence *fence, uint32_t at, uint32_t reg, struct fence_sum *sum)
{
    const struct search search = search_from(fence, at);
    const struct ptx_inst *inst = writer(&search, at, reg);
    const uint32_t by = inst ? (uint32_t)(inst - fence->f->insts) : 0;
    uint32_t where = by;

    if (!inst)
        return false;
    if (inst->op == PTX_OP_MAD && fence_is_product(inst, sum) && is_reg(&inst->ops[3])) {
        sum->base = inst->ops[3].reg;
        sum->index = inst->ops[1].reg;
        sum->product = PTX_NO_REG;
    } else if (fence_adds_addresses(inst) && is_reg(&inst->ops[2])) {
        unsigned scaled = 2;

        if (!is_scaled(&search, by, inst->ops[2].reg, sum, &where)) {
            scaled = 1;
            if (!is_scaled(&search, by, inst->ops[1].reg, sum, &where))
                return false;
        }
        sum->base = inst->ops[3 - scaled].reg;
        sum->product = inst->ops[scaled].reg;
    } else {
        return false;
    }
    /* The sum is computed again at the access, so its terms must not have changed. */
    return !sum->is_signed && is_32(fence, sum->index) && stays(fence, where, at, sum->index) &&
           stays(fence, where, at, sum->base);
}

bool fence_sum_shares_product(const struct fence *fence, uint32_t at, const struct fence_sum *sum)
{
    const struct ptx_func *f = fence->f;
    const struct search search = search_from(fence, at);
    const uint32_t end = f->ninsts - at > MOST_STEPS ? at + MOST_STEPS : f->ninsts;
    unsigned sums = 0;

    if (sum->product == PTX_NO_REG)
        return false;
    while (at > search.end && !fence->labelled[at] &&
           !definitions_writes(&f->insts[at], sum->product))
        at--;
    do {
        const struct ptx_inst *inst = &f->insts[at];

        sums += fence_adds_addresses(inst) &&
                ((is_reg(&inst->ops[1]) && inst->ops[1].reg == sum->product) ||
                 (is_reg(&inst->ops[2]) && inst->ops[2].reg == sum->product));
    } while (sums < 2 && ++at < end && !fence->labelled[at] &&
             !definitions_writes(&f->insts[at], sum->product));
    return sums > 1;
}

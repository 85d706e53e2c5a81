/* Tensor copies: that there is a coordinate for each dimension, and which operands may be a map. */
#include "ptx/read/parse.h"

enum { MAP_BYTES = 128 };

static bool check_fence(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    return inst->sem == PTX_SEM_RELEASE || inst->ops[1].imm == MAP_BYTES ||
           parser_fail(p, at, "%s: expected 128 bytes, found %lld", ptx_op_name(inst->op),
                       (long long)inst->ops[1].imm);
}

/* Whether it is a generic address, in a register or of a global variable, without an offset. */
static bool is_map(const struct ptx_operand *o)
{
    return o->kind == PTX_OPND_REG ||
           (o->kind == PTX_OPND_SYM && !o->sym.offset && o->sym.var->space == PTX_SPACE_GLOBAL);
}

static bool check_reduction(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    return inst->aop != PTX_AOP_EXCH ||
           parser_fail(p, at, "%s: .exch is atom's", ptx_op_name(inst->op));
}

bool tensor_check(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    const struct ptx_operand *map = inst->ops, *coordinates, *policy = &inst->ops[inst->nops - 1];

    if (inst->op == PTX_OP_FENCE_PROXY_TENSORMAP)
        return check_fence(p, inst, at);
    if (inst->op == PTX_OP_CP_ASYNC_BULK_TENSOR && inst->space == PTX_SPACE_SHARED)
        map++;
    coordinates = map + 1;
    if (!is_map(map))
        return parser_fail(p, at,
                           "%s: expected a register or a global variable before the "
                           "coordinates",
                           ptx_op_name(inst->op));
    if (coordinates->kind != PTX_OPND_VEC || coordinates->count != inst->num)
        return parser_fail(p, at, "%s: expected a list of %u coordinates", ptx_op_name(inst->op),
                           inst->num);
    if ((policy->kind != PTX_OPND_NONE) != !!(inst->flags & PTX_F_CACHE_HINT))
        return parser_fail(p, at, "%s: expected .L2::cache_hint and a policy, or neither",
                           ptx_op_name(inst->op));
    return check_reduction(p, inst, at);
}

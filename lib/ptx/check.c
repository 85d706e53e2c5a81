/* What the form of an instruction does not say by itself, but whoever lowers it relies on. */
#include "ptx/parse.h"

static bool space_matches(enum ptx_space inst, enum ptx_space var)
{
    if (inst == PTX_SPACE_PARAM_ENTRY || inst == PTX_SPACE_PARAM_FUNC)
        inst = PTX_SPACE_PARAM;
    return inst == var || (inst == PTX_SPACE_GENERIC && var == PTX_SPACE_GLOBAL);
}

static bool check_mem_space(struct parser *p, const struct ptx_operand *mem, enum ptx_space space,
                            const struct token *at)
{
    if (mem->mem.base != PTX_BASE_VAR || space_matches(space, mem->mem.var->space))
        return true;
    return parser_fail(p, at, "%s: '%.64s' lies in .%s, the instruction accesses .%s",
                       ptx_op_name(PTX_OP_LD) ? "address" : "", mem->mem.var->name,
                       ptx_space_name(mem->mem.var->space), ptx_space_name(space));
}

static bool check_addresses(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    unsigned i;

    for (i = 0; i < inst->nops; i++) {
        if (inst->ops[i].kind != PTX_OPND_MEM)
            continue;
        if (!check_mem_space(p, &inst->ops[i],
                             inst->op == PTX_OP_CP_ASYNC && i == 1 ? inst->space2 : inst->space,
                             at))
            return false;
    }
    return true;
}

static bool check_vector(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    unsigned i;

    for (i = 0; inst->vec && i < 2 && i < inst->nops; i++)
        if (inst->ops[i].kind == PTX_OPND_VEC && inst->ops[i].count != inst->vec &&
            inst->op != PTX_OP_TLD4 && inst->op != PTX_OP_TEX)
            return parser_fail(p, at, "expected a list of %u, found %u elements", inst->vec,
                               inst->ops[i].count);
    return true;
}

bool inst_check(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    switch (ptx_op_class(inst->op)) {
    case PTX_CLASS_LOAD:
    case PTX_CLASS_STORE:
    case PTX_CLASS_ATOM:
    case PTX_CLASS_ASYNC:
    case PTX_CLASS_MBARRIER:
    case PTX_CLASS_MATRIX_LOAD:
    case PTX_CLASS_MATRIX_STORE:
        return check_addresses(p, inst, at) && check_vector(p, inst, at);
    default:
        return true;
    }
}

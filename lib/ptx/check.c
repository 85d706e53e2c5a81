/* What the form of an instruction does not say by itself, but whoever lowers it relies on. */
#include "ptx/parse.h"

static bool space_matches(enum ptx_space inst, enum ptx_space var)
{
    if (inst == PTX_SPACE_PARAM_ENTRY || inst == PTX_SPACE_PARAM_FUNC)
        inst = PTX_SPACE_PARAM;
    return inst == var || (inst == PTX_SPACE_GENERIC && var == PTX_SPACE_GLOBAL);
}

/* A variable named as address must lie in the space that the instruction accesses. */
static bool check_addresses(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    const struct ptx_mem *mem;
    enum ptx_space space;
    unsigned i;

    for (i = 0; i < inst->nops; i++) {
        if (inst->ops[i].kind != PTX_OPND_MEM || inst->ops[i].mem.base != PTX_BASE_VAR)
            continue;
        mem = &inst->ops[i].mem;
        space = inst->op == PTX_OP_CP_ASYNC && i == 1 ? inst->space2 : inst->space;
        if (!space_matches(space, mem->var->space))
            return parser_fail(p, at, "%s: '%.64s' lies in .%s, the instruction accesses .%s",
                               ptx_op_name(inst->op), mem->var->name,
                               ptx_space_name(mem->var->space), ptx_space_name(space));
    }
    return true;
}

static bool check_vector(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    unsigned bits = ptx_type_bits(inst->type[0]), i;

    if (!inst->vec)
        return true;
    if (inst->vec * bits > 256 || bits == 128)
        return parser_fail(p, at, "%s: .v%u.%s is too long", ptx_op_name(inst->op), inst->vec,
                           ptx_type_name(inst->type[0]));
    for (i = 0; i < 3 && i < inst->nops; i++)
        if (inst->ops[i].kind == PTX_OPND_VEC &&
            ptx_forms[inst->form].opnds[i].kind != PTX_DESC_COORD &&
            inst->ops[i].count != inst->vec)
            return parser_fail(p, at, "%s: expected a list of %u, found %u elements",
                               ptx_op_name(inst->op), inst->vec, inst->ops[i].count);
    return true;
}

/* Generic instructions on shared memory alone, and the like. */
static bool check_space(struct parser *p, const struct ptx_inst *inst, uint32_t allowed,
                        const struct token *at)
{
    if (allowed >> inst->space & 1)
        return true;
    return parser_fail(p, at, "%s does not access .%s", ptx_op_name(inst->op),
                       ptx_space_name(inst->space));
}

static bool check_atomic(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    static const uint32_t any =
        1u << PTX_SPACE_GENERIC | 1u << PTX_SPACE_GLOBAL | 1u << PTX_SPACE_SHARED;
    enum ptx_type t = inst->type[0];
    unsigned bits = ptx_type_bits(t);
    bool integer = !ptx_type_is_float(t), ok = true;

    switch ((enum ptx_aop)inst->aop) {
    case PTX_AOP_INC:
    case PTX_AOP_DEC:
        ok = t == PTX_T_U32;
        break;
    case PTX_AOP_ADD:
        ok = bits >= 32 && bits <= 64 ? t != PTX_T_B32 && t != PTX_T_B64 : !integer;
        break;
    case PTX_AOP_MIN:
    case PTX_AOP_MAX:
        ok = integer ? (bits == 32 || bits == 64) && t != PTX_T_B32 && t != PTX_T_B64
                     : bits < 64 && inst->vec;
        break;
    case PTX_AOP_AND:
    case PTX_AOP_OR:
    case PTX_AOP_XOR:
        ok = integer && (bits == 32 || bits == 64);
        break;
    case PTX_AOP_EXCH:
        ok = integer && bits >= 32;
        break;
    case PTX_AOP_CAS:
        ok = integer;
        break;
    case PTX_AOP_NONE:
        break;
    }
    if (!ok || (inst->vec && (integer || bits == 64)))
        return parser_fail(p, at, "%s: this operation does not come for .%s", ptx_op_name(inst->op),
                           ptx_type_name(t));
    if (inst->op == PTX_OP_RED && inst->aop == PTX_AOP_EXCH)
        return parser_fail(p, at, "red: .exch is atom's");
    return check_space(p, inst, any, at);
}

static bool check_redux(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    bool bitwise = inst->aop == PTX_AOP_AND || inst->aop == PTX_AOP_OR || inst->aop == PTX_AOP_XOR;
    bool minmax = inst->aop == PTX_AOP_MIN || inst->aop == PTX_AOP_MAX;
    enum ptx_type t = inst->type[0];

    if (t == PTX_T_B32 ? bitwise : minmax || (inst->aop == PTX_AOP_ADD && t != PTX_T_F32))
        return true;
    return parser_fail(p, at, "redux: this operation does not come for .%s", ptx_type_name(t));
}

static bool check_cp_async(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    uint64_t bytes = inst->ops[2].imm;

    if (inst->space != PTX_SPACE_SHARED || (inst->cop != PTX_COP_CA && inst->cop != PTX_COP_CG))
        return parser_fail(p, at, "cp.async: expected .ca or .cg, .shared and .global");
    if (bytes != 16 && (inst->cop == PTX_COP_CG || (bytes != 4 && bytes != 8)))
        return parser_fail(p, at, "cp.async: expected %s bytes, found %lld",
                           inst->cop == PTX_COP_CG ? "16" : "4, 8 or 16", (long long)bytes);
    return true;
}

static bool check_mov(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    if (inst->ops[0].kind == PTX_OPND_VEC && inst->ops[1].kind == PTX_OPND_VEC)
        return parser_fail(p, at, "mov: only one side may be a list");
    return true;
}

static bool check_lop3(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    const struct ptx_operand *table = &inst->ops[inst->bop ? 5 : 4];

    return table->imm <= 255 ||
           parser_fail(p, at, "lop3: expected a truth table from 0 to 255, found %lld",
                       (long long)table->imm);
}

bool inst_check(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    static const uint32_t shared = 1u << PTX_SPACE_GENERIC | 1u << PTX_SPACE_SHARED;
    static const uint32_t data = 1u << PTX_SPACE_GENERIC | 1u << PTX_SPACE_GLOBAL |
                                 1u << PTX_SPACE_SHARED | 1u << PTX_SPACE_LOCAL |
                                 1u << PTX_SPACE_PARAM | 1u << PTX_SPACE_PARAM_FUNC;
    static const uint32_t readable = data | 1u << PTX_SPACE_CONST | 1u << PTX_SPACE_PARAM_ENTRY;

    switch (ptx_op_class(inst->op)) {
    case PTX_CLASS_LOAD:
        return check_addresses(p, inst, at) && check_vector(p, inst, at) &&
               check_space(p, inst, readable, at);
    case PTX_CLASS_STORE:
        return check_addresses(p, inst, at) && check_vector(p, inst, at) &&
               check_space(p, inst, data, at);
    case PTX_CLASS_ATOM:
        return check_addresses(p, inst, at) && check_vector(p, inst, at) &&
               check_atomic(p, inst, at);
    case PTX_CLASS_ASYNC:
        return inst->op != PTX_OP_CP_ASYNC ||
               (check_addresses(p, inst, at) && check_cp_async(p, inst, at));
    case PTX_CLASS_MBARRIER:
        return check_addresses(p, inst, at) && check_space(p, inst, shared, at);
    case PTX_CLASS_MATRIX_LOAD:
    case PTX_CLASS_MATRIX_STORE:
        return check_addresses(p, inst, at) && matrix_check(p, inst, at);
    case PTX_CLASS_MATRIX:
        return matrix_check(p, inst, at);
    case PTX_CLASS_TEX:
    case PTX_CLASS_SURF:
        return check_vector(p, inst, at) && texture_check(p, inst, at);
    default:
        break;
    }
    switch (inst->op) {
    case PTX_OP_MOV:
        return check_mov(p, inst, at);
    case PTX_OP_LOP3:
        return check_lop3(p, inst, at);
    case PTX_OP_REDUX:
        return check_redux(p, inst, at);
    case PTX_OP_MOVMATRIX:
        return matrix_check(p, inst, at);
    default:
        return true;
    }
}

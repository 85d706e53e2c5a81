/* Checks that the form of an instruction does not express, but that the lowering relies on. */
#include "ptx/read/parse.h"

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

static bool check_atomic(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    static const uint32_t any = 1u << PTX_SPACE_GENERIC | 1u << PTX_SPACE_GLOBAL |
                                1u << PTX_SPACE_SHARED | 1u << PTX_SPACE_SHARED_CLUSTER;
    enum ptx_type t = inst->type[0];
    unsigned bits = ptx_type_bits(t);
    bool integer = !ptx_type_is_float(t), is_bits = t >= PTX_T_B8 && t <= PTX_T_B128, ok = true;

    switch ((enum ptx_aop)inst->aop) {
    case PTX_AOP_INC:
    case PTX_AOP_DEC:
        ok = t == PTX_T_U32;
        break;
    case PTX_AOP_ADD:
        ok = bits >= 32 && bits <= 64 ? t != PTX_T_B32 && t != PTX_T_B64 && t != PTX_T_S64
                                      : !integer;
        break;
    case PTX_AOP_MIN:
    case PTX_AOP_MAX:
        ok = integer ? (bits == 32 || bits == 64) && t != PTX_T_B32 && t != PTX_T_B64
                     : bits < 64 && inst->vec;
        break;
    case PTX_AOP_AND:
    case PTX_AOP_OR:
    case PTX_AOP_XOR:
        ok = t == PTX_T_B32 || t == PTX_T_B64;
        break;
    case PTX_AOP_EXCH:
        ok = is_bits && bits >= 32;
        break;
    case PTX_AOP_CAS:
        ok = is_bits;
        break;
    case PTX_AOP_NONE:
        break;
    }
    if (!ok || (inst->vec && (integer || bits == 64)))
        return parser_fail(p, at, "%s: this operation does not come for .%s", ptx_op_name(inst->op),
                           ptx_type_name(t));
    if (inst->op == PTX_OP_RED && inst->aop == PTX_AOP_EXCH)
        return parser_fail(p, at, "red: .exch is atom's");
    if (inst->op == PTX_OP_RED && inst->sem != PTX_SEM_NONE && inst->sem != PTX_SEM_RELAXED &&
        inst->sem != PTX_SEM_RELEASE)
        return parser_fail(p, at, "red: expected .relaxed or .release");
    if (!integer && bits < 64 && t != PTX_T_F32 && inst->aop == PTX_AOP_ADD &&
        !(inst->flags & PTX_F_NOFTZ))
        return parser_fail(p, at, "%s: expected .add.noftz for .%s", ptx_op_name(inst->op),
                           ptx_type_name(t));
    return space_check(p, inst, any, at);
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

static bool check_bulk(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    const struct ptx_operand *bytes = &inst->ops[2];

    if (bytes->kind != PTX_OPND_IMM || !(bytes->imm & ~0xffff0ull))
        return true;
    return parser_fail(p, at, "%s: expected a multiple of 16 bytes below 1 MiB, found %lld",
                       ptx_op_name(inst->op), (long long)bytes->imm);
}

/* Shared memory only supports 32-bit operations and 64-bit additions. */
static bool check_bulk_reduction(struct parser *p, const struct ptx_inst *inst,
                                 const struct token *at)
{
    enum ptx_type t = inst->type[0];
    const bool half = t == PTX_T_F16 || t == PTX_T_BF16, global = inst->space == PTX_SPACE_GLOBAL;
    bool ok = false;

    switch ((enum ptx_aop)inst->aop) {
    case PTX_AOP_INC:
    case PTX_AOP_DEC:
        ok = t == PTX_T_U32;
        break;
    case PTX_AOP_ADD:
        ok = t == PTX_T_U32 || t == PTX_T_S32 || t == PTX_T_U64 ||
             (global && ptx_type_is_float(t) && half == !!(inst->flags & PTX_F_NOFTZ));
        break;
    case PTX_AOP_MIN:
    case PTX_AOP_MAX:
        ok = t == PTX_T_U32 || t == PTX_T_S32 ||
             (global && (t == PTX_T_U64 || t == PTX_T_S64 || half));
        break;
    case PTX_AOP_AND:
    case PTX_AOP_OR:
    case PTX_AOP_XOR:
        ok = t == PTX_T_B32 || (global && t == PTX_T_B64);
        break;
    default:
        break;
    }
    if (inst->flags & PTX_F_NOFTZ && (inst->aop != PTX_AOP_ADD || !half))
        ok = false;
    return ok || parser_fail(p, at, "%s: this operation does not come for .%s",
                             ptx_op_name(inst->op), ptx_type_name(t));
}

static bool check_async(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    if (!address_check(p, inst, at))
        return false;
    switch (inst->op) {
    case PTX_OP_CP_ASYNC:
        return check_cp_async(p, inst, at);
    case PTX_OP_CP_ASYNC_BULK:
        return check_bulk(p, inst, at);
    case PTX_OP_CP_REDUCE_ASYNC_BULK:
        return check_bulk(p, inst, at) && check_bulk_reduction(p, inst, at);
    default:
        return true;
    }
}

static bool check_mov(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    if (inst->ops[0].kind == PTX_OPND_VEC && inst->ops[1].kind == PTX_OPND_VEC)
        return parser_fail(p, at, "mov: only one side may be a list");
    return true;
}

/* A constant operand must name one of 16 barriers, and a thread count must be whole warps. */
static bool check_barrier(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    bool reduces = inst->op == PTX_OP_BAR_RED || inst->op == PTX_OP_BARRIER_RED;
    bool arrives = inst->op == PTX_OP_BAR_ARRIVE || inst->op == PTX_OP_BARRIER_ARRIVE;
    const struct ptx_operand *id = &inst->ops[reduces ? 1 : 0], *count = id + 1;

    if (id->kind == PTX_OPND_IMM && id->imm > 15)
        return parser_fail(p, at, "%s: expected a barrier from 0 to 15, found %lld",
                           ptx_op_name(inst->op), (long long)id->imm);
    if (inst->nops < (reduces ? 3 : 2) || count->kind != PTX_OPND_IMM)
        return true;
    if (count->imm % 32 || (arrives && !count->imm))
        return parser_fail(p, at, "%s: expected a count of threads in whole warps, found %lld",
                           ptx_op_name(inst->op), (long long)count->imm);
    return true;
}

/* For an object in another block of the cluster, a thread can only arrive, without a result, and
 * announce bytes. */
static bool check_mbarrier(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    if (inst->space != PTX_SPACE_SHARED_CLUSTER)
        return true;
    switch (inst->op) {
    case PTX_OP_MBARRIER_ARRIVE:
    case PTX_OP_MBARRIER_ARRIVE_DROP:
        return inst->ops[0].kind == PTX_OPND_SINK ||
               parser_fail(p, at, "%s: expected '_', since .shared::cluster gives no state",
                           ptx_op_name(inst->op));
    case PTX_OP_MBARRIER_EXPECT_TX:
    case PTX_OP_MBARRIER_COMPLETE_TX:
        return true;
    case PTX_OP_ST_ASYNC:
        return check_vector(p, inst, at);
    default:
        return parser_fail(p, at, "%s: not in .shared::cluster", ptx_op_name(inst->op));
    }
}

static bool check_rest(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    uint64_t align;

    switch (inst->op) {
    case PTX_OP_PMEVENT:
        if (inst->flags & PTX_F_MASK || inst->ops[0].imm <= 15)
            return true;
        return parser_fail(p, at, "pmevent: expected an event from 0 to 15, found %lld",
                           (long long)inst->ops[0].imm);
    case PTX_OP_ALLOCA:
        align = inst->ops[2].kind == PTX_OPND_IMM ? inst->ops[2].imm : 16;
        return (align && !(align & (align - 1))) ||
               parser_fail(p, at,
                           "alloca: expected an alignment that is a power of two, found %lld",
                           (long long)align);
    case PTX_OP_SETMAXNREG:
        return (inst->ops[0].imm >= 24 && inst->ops[0].imm <= 256 && inst->ops[0].imm % 8 == 0) ||
               parser_fail(p, at, "setmaxnreg: expected a multiple of 8 from 24 to 256, found %lld",
                           (long long)inst->ops[0].imm);
    case PTX_OP_FENCE_MBARRIER_INIT:
        return (inst->sem == PTX_SEM_RELEASE && inst->scope == PTX_SCOPE_CLUSTER) ||
               parser_fail(p, at, "fence.mbarrier_init: expected .release.cluster");
    case PTX_OP_MATCH:
        if (inst->mode == PTX_MODE_ALL || inst->ops[1].kind == PTX_OPND_NONE)
            return true;
        return parser_fail(p, at, "match.any: expected no second result");
    default:
        return true;
    }
}

bool inst_check(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    static const uint32_t shared =
        1u << PTX_SPACE_GENERIC | 1u << PTX_SPACE_SHARED | 1u << PTX_SPACE_SHARED_CLUSTER;
    static const uint32_t data = shared | 1u << PTX_SPACE_GLOBAL | 1u << PTX_SPACE_LOCAL |
                                 1u << PTX_SPACE_PARAM | 1u << PTX_SPACE_PARAM_FUNC;
    static const uint32_t readable = data | 1u << PTX_SPACE_CONST | 1u << PTX_SPACE_PARAM_ENTRY;

    if (!target_check(p, inst, at))
        return false;
    switch (ptx_op_class(inst->op)) {
    case PTX_CLASS_LOAD:
        return address_check(p, inst, at) && check_vector(p, inst, at) &&
               space_check(p, inst, readable, at) && access_check(p, inst, at);
    case PTX_CLASS_STORE:
        return address_check(p, inst, at) && check_vector(p, inst, at) &&
               space_check(p, inst, data, at) && access_check(p, inst, at);
    case PTX_CLASS_ATOM:
        return address_check(p, inst, at) && check_vector(p, inst, at) && check_atomic(p, inst, at);
    case PTX_CLASS_CACHE:
        return cache_check(p, inst, at);
    case PTX_CLASS_BARRIER:
        return check_barrier(p, inst, at);
    case PTX_CLASS_ASYNC:
        return check_async(p, inst, at);
    case PTX_CLASS_TENSOR:
        return address_check(p, inst, at) && tensor_check(p, inst, at);
    case PTX_CLASS_MBARRIER:
        return address_check(p, inst, at) && space_check(p, inst, shared, at) &&
               check_mbarrier(p, inst, at);
    case PTX_CLASS_MATRIX_LOAD:
    case PTX_CLASS_MATRIX_STORE:
        return address_check(p, inst, at) &&
               space_check(p, inst, ~(1u << PTX_SPACE_SHARED_CLUSTER), at) &&
               matrix_check(p, inst, at);
    case PTX_CLASS_MATRIX:
        return matrix_check(p, inst, at);
    case PTX_CLASS_WGMMA:
        return wgmma_check(p, inst, at);
    case PTX_CLASS_TEX:
    case PTX_CLASS_SURF:
        return check_vector(p, inst, at) && texture_check(p, inst, at);
    default:
        break;
    }
    switch (inst->op) {
    case PTX_OP_MOV:
        return check_mov(p, inst, at);
    case PTX_OP_CVTA:
        return cvta_check(p, inst, at);
    case PTX_OP_REDUX:
        return check_redux(p, inst, at);
    case PTX_OP_MOVMATRIX:
        return matrix_check(p, inst, at);
    default:
        return number_check(p, inst, at) && check_rest(p, inst, at);
    }
}

/* Checks of loads, stores, atomics and other instructions with an address: that the state space,
 * the variable, the memory order and the cache operators fit together. */
#include "ptx/read/parse.h"

#define SPACE(s) (1u << PTX_SPACE_##s)

/* Spaces of variables that an instruction on generic addresses may name: ptxas then uses the
 * variable's space. */
static uint32_t generic_variables(const struct ptx_inst *inst)
{
    switch (ptx_op_class(inst->op)) {
    case PTX_CLASS_MBARRIER:
        return SPACE(SHARED);
    case PTX_CLASS_LOAD:
    case PTX_CLASS_STORE:
        return SPACE(GLOBAL) | SPACE(SHARED) | SPACE(LOCAL);
    case PTX_CLASS_CACHE:
        return SPACE(GLOBAL);
    default:
        return SPACE(GLOBAL) | SPACE(SHARED);
    }
}

static bool space_matches(const struct ptx_inst *inst, enum ptx_space space, enum ptx_space var)
{
    if (space == PTX_SPACE_PARAM_ENTRY || space == PTX_SPACE_PARAM_FUNC)
        space = PTX_SPACE_PARAM;
    if (space == PTX_SPACE_SHARED_CLUSTER)
        space = PTX_SPACE_SHARED;
    return space == var || (space == PTX_SPACE_GENERIC && generic_variables(inst) >> var & 1);
}

/* The state space of the address in operand I. */
static enum ptx_space space_of(const struct ptx_inst *inst, unsigned i)
{
    enum ptx_class class = ptx_op_class(inst->op);

    if (class == PTX_CLASS_TENSOR && inst->op != PTX_OP_FENCE_PROXY_TENSORMAP)
        return PTX_SPACE_SHARED; /* a tensor's box or a barrier */
    return class == PTX_CLASS_ASYNC && i == 1 ? inst->space2 : inst->space;
}

bool address_check(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    const struct ptx_mem *mem;
    enum ptx_space space;
    unsigned i;

    for (i = 0; i < inst->nops; i++) {
        if (inst->ops[i].kind != PTX_OPND_MEM || inst->ops[i].mem.base == PTX_BASE_REG)
            continue;
        mem = &inst->ops[i].mem;
        space = space_of(inst, i);
        if (mem->base == PTX_BASE_ABS && space != PTX_SPACE_LOCAL)
            return parser_fail(p, at, "%s: expected a register or a variable as address in .%s",
                               ptx_op_name(inst->op), ptx_space_name(space));
        if (mem->base == PTX_BASE_VAR && !space_matches(inst, space, mem->var->space))
            return parser_fail(p, at, "%s: '%.64s' lies in .%s, the instruction accesses .%s",
                               ptx_op_name(inst->op), mem->var->name,
                               ptx_space_name(mem->var->space), ptx_space_name(space));
        if (mem->base == PTX_BASE_VAR && !ptx_type_bits(mem->var->type))
            return parser_fail(p, at, "%s: '%.64s' is a .%s, not data", ptx_op_name(inst->op),
                               mem->var->name, ptx_type_name(mem->var->type));
    }
    return true;
}

bool space_check(struct parser *p, const struct ptx_inst *inst, uint32_t allowed,
                 const struct token *at)
{
    if (allowed >> inst->space & 1)
        return true;
    return parser_fail(p, at, "%s does not access .%s", ptx_op_name(inst->op),
                       ptx_space_name(inst->space));
}

/* ---- order, scope and cache words of ld and st ---- */

static bool check_scope(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    bool ordered = inst->sem == PTX_SEM_RELAXED || inst->sem == PTX_SEM_ACQUIRE ||
                   inst->sem == PTX_SEM_RELEASE;

    if (inst->sem == PTX_SEM_MMIO)
        return inst->scope == PTX_SCOPE_SYS ||
               parser_fail(p, at, "%s: expected .mmio.relaxed.sys", ptx_op_name(inst->op));
    if (ordered == (inst->scope != PTX_SCOPE_NONE))
        return true;
    return parser_fail(p, at,
                       ordered ? "%s: expected a scope (.cta, .gpu, .sys) with this memory order"
                               : "%s: expected .relaxed, .acquire or .release with a scope",
                       ptx_op_name(inst->op));
}

static bool check_order(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    uint32_t shared = inst->sem == PTX_SEM_MMIO ? 0 : SPACE(SHARED) | SPACE(SHARED_CLUSTER);
    bool load = inst->op == PTX_OP_LD;

    if (inst->sem == (load ? PTX_SEM_RELEASE : PTX_SEM_ACQUIRE))
        return parser_fail(p, at, "%s: .%s is of %s", ptx_op_name(inst->op),
                           load ? "release" : "acquire", load ? "stores" : "loads");
    if (!check_scope(p, inst, at))
        return false;
    if (inst->sem <= PTX_SEM_WEAK)
        return true;
    if (!((SPACE(GENERIC) | SPACE(GLOBAL) | shared) >> inst->space & 1))
        return parser_fail(p, at, "%s: there is no such memory order in .%s", ptx_op_name(inst->op),
                           ptx_space_name(inst->space));
    if (inst->cop)
        return parser_fail(p, at, "%s: a cache operator does not go with a memory order",
                           ptx_op_name(inst->op));
    return true;
}

static bool check_cache(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    bool load = inst->op == PTX_OP_LD, nc = inst->flags & PTX_F_NC;
    uint32_t reads = 1u << PTX_COP_CA | 1u << PTX_COP_CG | 1u << PTX_COP_CS | 1u << PTX_COP_LU |
                     1u << PTX_COP_CV;
    uint32_t writes = 1u << PTX_COP_WB | 1u << PTX_COP_CG | 1u << PTX_COP_CS | 1u << PTX_COP_WT;

    if (nc)
        reads = 1u << PTX_COP_CA | 1u << PTX_COP_CG | 1u << PTX_COP_CS;
    if (nc && inst->space != PTX_SPACE_GLOBAL)
        return parser_fail(p, at, "ld: expected .global with .nc");
    if (inst->cop && !((load ? reads : writes) >> inst->cop & 1))
        return parser_fail(p, at, "%s: expected %s as cache operator", ptx_op_name(inst->op),
                           !load ? ".wb, .cg, .cs or .wt"
                           : nc  ? ".ca, .cg or .cs"
                                 : ".ca, .cg, .cs, .lu or .cv");
    return true;
}

/* Parameters of functions and calls, which are not memory: ptxas 13.0 keeps a list of the parts of
 * each, and for a result that of the call above it in the text. Without such a call, or for a part
 * outside, ptxas reads and writes out of bounds. */
static bool check_parameter(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    const struct ptx_mem *mem = &inst->ops[inst->op == PTX_OP_LD].mem;
    const struct ptx_var *v = mem->var, *const *own = p->fvars.data;
    const uint64_t bytes = ptx_type_bits(inst->type[0]) / 8 * (inst->vec ? inst->vec : 1);

    if (mem->base != PTX_BASE_VAR || v->space != PTX_SPACE_PARAM)
        return true;
    const bool is_of_call = v->id < p->fvars.n && own[v->id] == v;
    if (p->f->entry && !is_of_call)
        return true; /* a kernel's */
    if (!v->unsized && (mem->offset < 0 || (uint64_t)mem->offset > v->size ||
                        bytes > v->size - (uint64_t)mem->offset))
        return parser_fail(p, at, "%s: not inside the parameter '%.64s'", ptx_op_name(inst->op),
                           v->name);
    return inst->op == PTX_OP_ST || !is_of_call || v->returned ||
           parser_fail(p, at, "ld: no call above returns '%.64s'", v->name);
}

bool access_check(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    if (inst->op == PTX_OP_LDU)
        return space_check(p, inst, SPACE(GENERIC) | SPACE(GLOBAL), at);
    if (inst->op != PTX_OP_LD && inst->op != PTX_OP_ST)
        return true;
    return check_parameter(p, inst, at) && check_order(p, inst, at) && check_cache(p, inst, at);
}

/* ---- caches, and addresses as values ---- */

/* Checks prefetch, discard and applypriority. */
bool cache_check(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    uint32_t spaces = SPACE(GENERIC) | SPACE(GLOBAL);

    if (inst->op == PTX_OP_PREFETCH && inst->mode == PTX_MODE_TENSORMAP)
        spaces = SPACE(GENERIC) | SPACE(CONST) | SPACE(PARAM);
    else if (inst->op == PTX_OP_PREFETCH)
        spaces |= SPACE(LOCAL);
    if (inst->op == PTX_OP_PREFETCHU && inst->mode != PTX_MODE_L1)
        return parser_fail(p, at, "prefetchu: expected .L1");
    if ((inst->op == PTX_OP_DISCARD || inst->op == PTX_OP_APPLYPRIORITY) && inst->ops[1].imm != 128)
        return parser_fail(p, at, "%s: expected 128 bytes, found %lld", ptx_op_name(inst->op),
                           (long long)inst->ops[1].imm);
    return address_check(p, inst, at) && space_check(p, inst, spaces, at);
}

bool cvta_check(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    const struct ptx_operand *o = &inst->ops[1];

    if (o->kind != PTX_OPND_SYM)
        return true;
    if (inst->flags & PTX_F_TO)
        return parser_fail(p, at, "cvta.to: expected a register, found '%.64s'", o->sym.var->name);
    if (o->sym.var->space != inst->space)
        return parser_fail(p, at, "cvta: '%.64s' lies in .%s, not in .%s", o->sym.var->name,
                           ptx_space_name(o->sym.var->space), ptx_space_name(inst->space));
    return true;
}

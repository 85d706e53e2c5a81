// Turns operands of PTX into slots: registers, constants, special registers, addresses of
// variables, and the addresses of loads and stores.
#include <errno.h>

#include "softcuda/lower/lower.h"
#include "softcuda/lower/program.h"

// ---- Registers

unsigned lower_type_bits(enum ptx_type type)
{
    unsigned bits = ptx_type_bits(type);
    return bits <= 1 ? bits : bits <= 32 ? 32 : bits;
}

unsigned lower_reg_bits(struct lower *L, uint32_t reg)
{
    return lower_type_bits((enum ptx_type)L->func->regs[reg].type);
}

unsigned lower_opnd_bits(struct lower *L, const struct ptx_operand *o)
{
    return o->kind == PTX_OPND_REG ? lower_reg_bits(L, o->reg) : 0;
}

uint32_t lower_temp(struct lower *L, unsigned bits)
{
    struct lower_temps *t = &L->temps[bits == 1 ? 0 : bits == 64 ? 2 : 1];
    if (t->used == LOWER_TEMPS) {
        lower_fail(L, -E2BIG, "too many operands need converting");
        return 0;
    }
    if (t->used == t->made) {
        t->at[t->made++] = L->frame_bytes;
        L->frame_bytes += bits == 1 ? SLOT_ALIGN : bits == 64 ? LANES * 8 : LANES * 4;
    }
    return t->at[t->used++];
}

// Emits a value that a handler has to compute.
static uint32_t emit_value(struct lower *L, insn_fn *run, uint32_t what, uint64_t imm,
                           unsigned bits)
{
    uint32_t t = lower_temp(L, bits);
    struct insn *in = lower_emit(L, run);
    in->guard = NO_GUARD;
    in->d = t;
    in->target = what;
    in->imm = imm;
    in->type = bits == 64 ? PTX_T_U64 : PTX_T_U32;
    return t;
}

static bool is_kernel_param(const struct lower *L, const struct ptx_var *v)
{
    if (v->space != PTX_SPACE_PARAM || !L->func->entry)
        return false;
    for (uint32_t i = 0; i < L->func->nparams; i++)
        if (L->func->params[i] == v)
            return true;
    return false;
}

bool lower_frame_at(struct lower *L, const struct ptx_var *v, uint64_t *at)
{
    const struct ptx_func *f = L->func;
    if (!f->entry && v->space == PTX_SPACE_PARAM) {
        for (uint32_t i = 0; i < f->nparams; i++)
            if (f->params[i] == v) {
                *at = L->code->param_at[i];
                return true;
            }
        for (uint32_t i = 0; i < f->nrets; i++)
            if (f->rets[i] == v) {
                *at = L->code->ret_at[i];
                return true;
            }
    }
    if (v->func == f && v->id < f->nvars && f->vars[v->id] == v &&
        (v->space == PTX_SPACE_LOCAL || v->space == PTX_SPACE_PARAM)) {
        *at = L->var_at[v->id];
        return true;
    }
    lower_fail(L, -ENOTSUP, "%s: a variable of this space has no place here", v->name);
    return false;
}

// Returns the offset of a sized .shared variable.
static uint64_t shared_at(struct lower *L, const struct ptx_var *v)
{
    if (!v->func)
        return L->program->shared_at[v->id];
    if (v->func == L->func && v->id < L->func->nvars && L->func->vars[v->id] == v)
        return L->var_at[v->id];
    lower_fail(L, -EINVAL, "%s: belongs to another function", v->name);
    return 0;
}

// Returns the address of a variable, in its own space, as a value.
static uint32_t var_address(struct lower *L, const struct ptx_var *v, int64_t offset, unsigned bits)
{
    uint64_t at = 0;
    switch (v->space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        if (v->func) // in a body: .const and .global variables there belong to the module
            return (uint32_t)(uintptr_t)lower_fail(L, -ENOTSUP, "%s: no place for it", v->name);
        if (bits == 64)
            return lower_const_address(L, v, offset);
        lower_fail(L, -EINVAL, "%s: its address has 64 bits", v->name);
        return 0;
    case PTX_SPACE_SHARED:
        if (v->unsized)
            return emit_value(L, op_dynamic_shared, 0, (uint64_t)offset, bits);
        at = shared_at(L, v) + (uint64_t)offset;
        return bits == 64 ? lower_const64(L, at) : lower_const32(L, (uint32_t)at);
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_PARAM:
        if (is_kernel_param(L, v)) {
            at = v->offset + (uint64_t)offset;
            return bits == 64 ? lower_const64(L, at) : lower_const32(L, (uint32_t)at);
        }
        if (!lower_frame_at(L, v, &at))
            return 0;
        return emit_value(L, op_local_address, 0, at + (uint64_t)offset, bits);
    default:
        lower_fail(L, -ENOTSUP, "%s: the address of such a variable", v->name);
        return 0;
    }
}

static uint32_t sreg_value(struct lower *L, const struct ptx_operand *o, unsigned bits)
{
    return emit_value(L, op_sreg, o->sreg, o->index, bits);
}

uint32_t lower_src(struct lower *L, const struct ptx_operand *o, unsigned bits)
{
    uint32_t t;
    if (bits == 128 && o->kind != PTX_OPND_REG) { // a constant has one slot
        lower_fail(L, -ENOTSUP, "a value of 128 bits that is no register");
        return 0;
    }
    switch (o->kind) {
    case PTX_OPND_REG: {
        unsigned have = lower_reg_bits(L, o->reg);
        if (have == bits)
            return L->slot[o->reg];
        if (have != 32 && have != 64)
            break;
        if (bits != 32 && bits != 64)
            break;
        t = lower_temp(L, bits);
        lower_alu1(L, bits == 64 ? ALU_ext_u32_b64 : ALU_low_b32, t, L->slot[o->reg])->guard =
            NO_GUARD;
        return t;
    }
    case PTX_OPND_IMM:
        return bits == 64 ? lower_const64(L, o->imm) : lower_const32(L, (uint32_t)o->imm);
    case PTX_OPND_SREG:
        return sreg_value(L, o, bits);
    case PTX_OPND_SYM:
        return var_address(L, o->sym.var, o->sym.offset, bits);
    case PTX_OPND_FUNC:
        if (bits == 64)
            return lower_const64(L, exec_program_function(L->program, o->func));
        return lower_const32(L, (uint32_t)exec_program_function(L->program, o->func));
    default:
        break;
    }
    lower_fail(L, -EINVAL, "an operand of %u bits cannot stand here", bits);
    return 0;
}

uint32_t lower_src_type(struct lower *L, const struct ptx_operand *o, enum ptx_type type)
{
    uint32_t slot = lower_src(L, o, lower_type_bits(type) == 64 ? 64 : 32);
    // immediates of 16 bits were sign-extended; slots hold them zero-extended
    if (o->kind == PTX_OPND_IMM && ptx_type_bits(type) == 16)
        return lower_const32(L, (uint32_t)o->imm & 0xffffu);
    return slot;
}

uint32_t lower_pred(struct lower *L, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPND_IMM)
        return lower_const_pred(L, (o->imm & 1) != o->neg);
    if (o->kind != PTX_OPND_REG || lower_reg_bits(L, o->reg) != 1) {
        lower_fail(L, -EINVAL, "a predicate was expected");
        return 0;
    }
    if (!o->neg)
        return L->slot[o->reg];
    uint32_t t = lower_temp(L, 1);
    lower_alu1(L, ALU_pred_not, t, L->slot[o->reg])->guard = NO_GUARD;
    return t;
}

// The slot for 128-bit results that are discarded: twice as wide as a temporary.
static uint32_t wide_sink(struct lower *L)
{
    if (!L->wide_sink) {
        L->wide_sink = L->frame_bytes;
        L->frame_bytes += LANES * 16;
    }
    return L->wide_sink;
}

uint32_t lower_dst(struct lower *L, const struct ptx_operand *o, unsigned bits)
{
    if (o->kind == PTX_OPND_SINK || o->kind == PTX_OPND_NONE)
        return bits == 128 ? wide_sink(L) : lower_temp(L, bits);
    if (o->kind == PTX_OPND_REG && lower_reg_bits(L, o->reg) == bits)
        return L->slot[o->reg];
    lower_fail(L, -EINVAL, "the result needs a register of %u bits", bits);
    return 0;
}

uint32_t lower_dst_pred(struct lower *L, const struct ptx_operand *o)
{
    return lower_dst(L, o, 1);
}

// ---- Addresses

static uint8_t space_of(struct lower *L, enum ptx_space space, bool narrow)
{
    switch (space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        return SPACE_GLOBAL;
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        return narrow ? SPACE_SHARED_32 : SPACE_SHARED;
    case PTX_SPACE_LOCAL:
        return narrow ? SPACE_LOCAL_32 : SPACE_LOCAL;
    case PTX_SPACE_GENERIC:
        return narrow ? SPACE_GENERIC_32 : SPACE_GENERIC;
    case PTX_SPACE_PARAM:
    case PTX_SPACE_PARAM_ENTRY:
    case PTX_SPACE_PARAM_FUNC:
        if (!L->func->entry || space == PTX_SPACE_PARAM_FUNC)
            return narrow ? SPACE_LOCAL_32 : SPACE_LOCAL;
        return narrow ? SPACE_PARAM_32 : SPACE_PARAM;
    default:
        lower_fail(L, -ENOTSUP, "memory of this space");
        return SPACE_GENERIC;
    }
}

struct lower_mem lower_mem(struct lower *L, const struct ptx_operand *o, enum ptx_space space)
{
    struct lower_mem m = {.imm = (uint64_t)o->mem.offset};
    if (o->kind != PTX_OPND_MEM) {
        lower_fail(L, -EINVAL, "an address was expected");
        return m;
    }
    const struct ptx_var *v = o->mem.var;
    if (o->mem.base == PTX_BASE_VAR && v->space == PTX_SPACE_PARAM && is_kernel_param(L, v)) {
        m.space = SPACE_PARAM;
        m.param = true;
        m.imm += v->offset;
        m.slot = lower_const64(L, 0);
    } else if (o->mem.base == PTX_BASE_VAR &&
               (v->space == PTX_SPACE_LOCAL || v->space == PTX_SPACE_PARAM)) {
        uint64_t at = 0;
        lower_frame_at(L, v, &at);
        m.space = SPACE_FRAME;
        m.imm += at;
    } else if (o->mem.base == PTX_BASE_VAR) {
        enum ptx_space own = (enum ptx_space)v->space;
        m.space = space_of(L, own, own == PTX_SPACE_SHARED);
        m.slot = var_address(L, v, 0, own == PTX_SPACE_SHARED ? 32 : 64);
    } else if (o->mem.base == PTX_BASE_ABS) {
        m.space = space_of(L, space, false);
        m.slot = lower_const64(L, 0);
        if (m.space == SPACE_PARAM)
            m.param = true;
    } else {
        unsigned bits = lower_reg_bits(L, o->mem.reg);
        if (bits != 32 && bits != 64)
            lower_fail(L, -EINVAL, "an address needs a register of 32 or 64 bits");
        m.slot = L->slot[o->mem.reg];
        if (bits == 32 && space != PTX_SPACE_SHARED && space != PTX_SPACE_SHARED_CLUSTER &&
            space != PTX_SPACE_LOCAL) {
            m.slot = lower_temp(L, 64);
            lower_alu1(L, ALU_ext_u32_b64, m.slot, L->slot[o->mem.reg])->guard = NO_GUARD;
            bits = 64;
        }
        m.space = space_of(L, space, bits == 32);
    }
    return m;
}

void lower_set_mem(struct insn *in, const struct lower_mem *m)
{
    in->a = m->slot;
    in->mode = m->space;
    in->imm = m->imm;
}

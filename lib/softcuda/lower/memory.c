// Loads, stores, atomics and other instructions with an address.
#include <errno.h>

#include "softcuda/lower/lower.h"

enum { MAX_VECTOR = 8 };

static const struct ptx_operand *op(const struct lower *L, unsigned i)
{
    return &L->inst->ops[i];
}

static bool is_strong(const struct ptx_inst *i)
{
    return i->sem > PTX_SEM_WEAK;
}

// Lists the elements of a register or a brace list. Returns 0 with an error if their number is not
// VEC.
static uint32_t elements(struct lower *L, const struct ptx_operand *o,
                         const struct ptx_operand **list)
{
    uint32_t n = L->inst->vec ? L->inst->vec : 1;
    if (o->kind != PTX_OPND_VEC) {
        *list = o;
        if (n != 1)
            lower_fail(L, -EINVAL, "a list of %u was expected", n);
        return n == 1 ? 1 : 0;
    }
    *list = o->list;
    if (o->count != n || n > MAX_VECTOR) {
        lower_fail(L, -EINVAL, "a list of %u was expected", n);
        return 0;
    }
    return n;
}

// Selects how a loaded element is extended in its register.
static enum alu load_of(enum ptx_type t, unsigned slot, bool vector)
{
    bool s = ptx_type_is_signed(t), wide = slot == 64;
    switch (ptx_type_bits(t)) {
    case 8:
        return s ? (wide ? ALU_ld_s8_b64 : ALU_ld_s8) : (wide ? ALU_ld_u8_b64 : ALU_ld_u8);
    case 16:
        return s ? (wide ? ALU_ld_s16_b64 : ALU_ld_s16) : (wide ? ALU_ld_u16_b64 : ALU_ld_u16);
    case 32:
        if (!wide)
            return vector ? ALU_ld_v_b32 : ALU_ld_b32;
        return s ? ALU_ld_s32_b64 : ALU_ld_u32_b64;
    default:
        return vector ? ALU_ld_v_b64 : ALU_ld_b64;
    }
}

static enum alu vector_load_of(enum ptx_type t, unsigned slot)
{
    switch (ptx_type_bits(t)) {
    case 8:
        return ptx_type_is_signed(t) ? ALU_ld_v_s8 : ALU_ld_v_u8;
    case 16:
        return ptx_type_is_signed(t) ? ALU_ld_v_s16 : ALU_ld_v_u16;
    default:
        return load_of(t, slot, true);
    }
}

// The width of the slot for loading or storing an element of type T.
static unsigned element_slot(struct lower *L, const struct ptx_operand *o, enum ptx_type t)
{
    unsigned have = lower_opnd_bits(L, o);
    return have == 64 || have == 32 ? have : lower_type_bits(t) == 64 ? 64 : 32;
}

// Clears the upper part of 16-bit registers after signed narrow loads.
static void trim16(struct lower *L, const struct ptx_operand *o, uint32_t slot, enum ptx_type t)
{
    if (o->kind == PTX_OPND_REG && ptx_type_is_signed(t) && ptx_type_bits(t) < 32 &&
        ptx_type_bits((enum ptx_type)L->func->regs[o->reg].type) == 16)
        lower_alu1(L, ALU_ext_u16, slot, slot);
}

static void lower_ld_param(struct lower *L, const struct lower_mem *m,
                           const struct ptx_operand *list, uint32_t n, enum ptx_type t)
{
    uint32_t bytes = ptx_type_bits(t) / 8;
    for (uint32_t i = 0; i < n; i++) {
        unsigned slot = element_slot(L, &list[i], t);
        uint64_t at = m->imm + (uint64_t)i * bytes, all = L->func->param_bytes;
        if (at > all || bytes > all - at) { // bytes behind the parameters read as 0
            lower_alu1(L, slot == 64 ? ALU_mov_b64 : ALU_mov_b32, lower_dst(L, &list[i], slot),
                       slot == 64 ? lower_const64(L, 0) : lower_const32(L, 0));
            continue;
        }
        struct insn *in = lower_emit(L, op_ld_param);
        in->imm = m->imm + (uint64_t)i * bytes;
        in->type = (uint8_t)t;
        in->b = slot;
        uint32_t d = lower_dst(L, &list[i], slot);
        in->d = d;
        trim16(L, &list[i], d, t);
    }
}

static void lower_ld(struct lower *L)
{
    enum ptx_type t = (enum ptx_type)L->inst->type[0];
    struct lower_mem m = lower_mem(L, op(L, 1), (enum ptx_space)L->inst->space);
    const struct ptx_operand *list;
    uint32_t n = elements(L, op(L, 0), &list);
    uint16_t flags = is_strong(L->inst) ? INSN_STRONG : 0;
    if (!n)
        return;
    if (ptx_type_bits(t) == 128) {
        uint32_t d = lower_dst(L, &list[0], 128), pair[2] = {d, d + LANES * 8};
        uint32_t aux = lower_aux(L, pair, 2);
        struct insn *in = lower_emit(L, L->alu[ALU_ld_v_b64]);
        lower_set_mem(in, &m);
        in->b = 2;
        in->aux = aux;
        in->flags = flags;
        return;
    }
    if (m.param && m.space == SPACE_PARAM) {
        lower_ld_param(L, &m, list, n, t);
        return;
    }
    if (n == 1) {
        unsigned slot = element_slot(L, list, t);
        uint32_t d = lower_dst(L, list, slot);
        struct insn *in = lower_emit(L, L->alu[load_of(t, slot, false)]);
        lower_set_mem(in, &m);
        in->d = d;
        in->flags = flags;
        trim16(L, list, d, t);
        return;
    }
    uint32_t to[MAX_VECTOR], spare[MAX_VECTOR];
    unsigned slot = lower_type_bits(t) == 64 ? 64 : 32;
    for (uint32_t i = 0; i < n; i++) {
        unsigned have = element_slot(L, &list[i], t);
        spare[i] = have == slot ? NO_OPERAND : lower_temp(L, slot); // to be extended afterwards
        to[i] = have == slot ? lower_dst(L, &list[i], slot) : spare[i];
    }
    uint32_t aux = lower_aux(L, to, n);
    struct insn *in = lower_emit(L, L->alu[vector_load_of(t, slot)]);
    lower_set_mem(in, &m);
    in->b = n;
    in->aux = aux;
    in->flags = flags;
    for (uint32_t i = 0; i < n; i++) {
        if (spare[i] == NO_OPERAND)
            trim16(L, &list[i], to[i], t);
        else
            lower_alu1(L, ptx_type_is_signed(t) ? ALU_ext_s32_b64 : ALU_ext_u32_b64,
                       lower_dst(L, &list[i], 64), to[i]);
    }
}

static enum alu store_of(enum ptx_type t, bool vector)
{
    switch (ptx_type_bits(t)) {
    case 8:
        return vector ? ALU_st_v_b8 : ALU_st_b8;
    case 16:
        return vector ? ALU_st_v_b16 : ALU_st_b16;
    case 32:
        return vector ? ALU_st_v_b32 : ALU_st_b32;
    default:
        return vector ? ALU_st_v_b64 : ALU_st_b64;
    }
}

static void lower_st(struct lower *L)
{
    enum ptx_type t = (enum ptx_type)L->inst->type[0];
    struct lower_mem m = lower_mem(L, op(L, 0), (enum ptx_space)L->inst->space);
    const struct ptx_operand *list;
    uint32_t n = elements(L, op(L, 1), &list), from[MAX_VECTOR];
    if (!n)
        return;
    if (m.space == SPACE_PARAM || m.space == SPACE_PARAM_32) {
        lower_fail(L, -EINVAL, "a kernel cannot write its parameters");
        return;
    }
    bool whole = ptx_type_bits(t) == 128;
    if (whole) {
        from[0] = lower_src(L, &list[0], 128);
        from[1] = from[0] + LANES * 8;
        n = 2;
    } else {
        for (uint32_t i = 0; i < n; i++)
            from[i] = lower_src(L, &list[i], lower_type_bits(t) == 64 ? 64 : 32);
    }
    bool vector = n > 1;
    uint32_t aux = vector ? lower_aux(L, from, n) : 0;
    struct insn *in = lower_emit(L, L->alu[store_of(t, vector)]);
    lower_set_mem(in, &m);
    in->b = vector ? n : from[0];
    in->aux = aux;
    in->flags = is_strong(L->inst) ? INSN_STRONG : 0;
}

// ---- Atomics

static void lower_atom(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    bool returns = i->op == PTX_OP_ATOM;
    unsigned first = returns ? 1 : 0;
    enum ptx_type t = (enum ptx_type)i->type[0];
    unsigned bits = lower_type_bits(t);
    struct lower_mem m = lower_mem(L, op(L, first), (enum ptx_space)i->space);
    const struct ptx_operand *results = NULL, *values;
    uint32_t n = elements(L, op(L, first + 1), &values);
    if (returns && elements(L, op(L, 0), &results) != n)
        return;
    if (!n)
        return;
    bool whole = ptx_type_bits(t) == 128;
    if (whole ? n > 1 || (i->aop != PTX_AOP_CAS && i->aop != PTX_AOP_EXCH)
              : n > 1 && i->aop == PTX_AOP_CAS) {
        lower_fail(L, -ENOTSUP, "atomics of this width");
        return;
    }
    bool cas = i->aop == PTX_AOP_CAS;
    uint32_t bytes = ptx_type_bits(t) / 8;
    for (uint32_t e = 0; e < n; e++) {
        uint32_t b = whole ? lower_src(L, &values[e], 128) : lower_src_type(L, &values[e], t);
        uint32_t c = !cas    ? b
                     : whole ? lower_src(L, op(L, first + 2), 128)
                             : lower_src_type(L, op(L, first + 2), t);
        uint32_t d = returns ? lower_dst(L, &results[e], bits) : NO_OPERAND;
        struct insn *in = lower_emit(L, op_atom);
        lower_set_mem(in, &m);
        in->imm += (uint64_t)e * bytes;
        in->d = d;
        in->b = b;
        in->c = c;
        in->type = (uint8_t)t;
        in->target = i->aop;
    }
}

// ---- Asynchronous copies: done at once, which any program must expect

void lower_put_mem(uint32_t words[4], const struct lower_mem *m)
{
    words[0] = m->slot;
    words[1] = m->space;
    words[2] = (uint32_t)m->imm;
    words[3] = (uint32_t)(m->imm >> 32);
}

static void lower_cp_async(struct lower *L)
{
    const struct ptx_operand *size = op(L, 2), *limit = op(L, 3);
    struct lower_mem to = lower_mem(L, op(L, 0), PTX_SPACE_SHARED);
    struct lower_mem from = lower_mem(L, op(L, 1), PTX_SPACE_GLOBAL);
    if (size->imm != 4 && size->imm != 8 && size->imm != 16) {
        lower_fail(L, -EINVAL, "copies are of 4, 8 or 16 bytes");
        return;
    }
    uint32_t ignore = NO_OPERAND, bytes = NO_OPERAND;
    if (lower_opnd_bits(L, limit) == 1) // a predicate: the source is ignored
        ignore = lower_pred(L, limit);
    else if (limit->kind != PTX_OPND_NONE)
        bytes = lower_src(L, limit, 32);
    uint32_t words[4];
    lower_put_mem(words, &to);
    uint32_t aux = lower_aux(L, words, 4);
    struct insn *in = lower_emit(L, op_cp_async);
    lower_set_mem(in, &from);
    in->aux = aux;
    in->b = bytes;
    in->c = ignore;
    in->target = (uint32_t)size->imm;
}

static void lower_bulk(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    bool completes = i->mode == PTX_MODE_COMPLETE_TX;
    struct lower_mem to = lower_mem(L, op(L, 0), (enum ptx_space)i->space);
    struct lower_mem from = lower_mem(L, op(L, 1), (enum ptx_space)i->space2);
    struct lower_mem object = completes ? lower_mem(L, op(L, 3), PTX_SPACE_SHARED) : to;
    uint32_t words[12], bytes = lower_src(L, op(L, 2), 32);
    lower_put_mem(words, &to);
    lower_put_mem(words + 4, &from);
    lower_put_mem(words + 8, &object);
    uint32_t aux = lower_aux(L, words, 12);
    struct insn *in = lower_emit(L, op_bulk);
    in->aux = aux;
    in->b = bytes;
    in->target = completes;
    in->mode = i->aop;
    in->type = i->type[0];
}

// A store, and then the completion of its bytes at the mbarrier object.
static void lower_st_async(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    unsigned bytes = lower_type_bits((enum ptx_type)i->type[0]) / 8 * (i->vec ? i->vec : 1);
    lower_st(L);
    struct lower_mem object = lower_mem(L, op(L, 2), (enum ptx_space)i->space);
    uint32_t b = lower_const32(L, bytes);
    struct insn *in = lower_emit(L, op_mbarrier);
    lower_set_mem(in, &object);
    in->d = NO_OPERAND;
    in->b = b;
    in->target = PTX_OP_MBARRIER_COMPLETE_TX;
    in->flags = INSN_STRONG;
}

static bool mbarrier_waits(enum ptx_op op)
{
    return op == PTX_OP_MBARRIER_TEST_WAIT || op == PTX_OP_MBARRIER_TRY_WAIT;
}

static bool mbarrier_returns(enum ptx_op op)
{
    return mbarrier_waits(op) || op == PTX_OP_MBARRIER_ARRIVE || op == PTX_OP_MBARRIER_ARRIVE_DROP;
}

// Orders and scopes need no code: the warps of a block take turns. Neither does .noComplete, which
// promises that other arrivals are pending.
static void lower_mbarrier(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    bool waits = mbarrier_waits((enum ptx_op)i->op), parity = i->flags & PTX_F_PARITY;
    unsigned at = mbarrier_returns((enum ptx_op)i->op) ? 1 : 0;
    struct lower_mem m = lower_mem(L, op(L, at), (enum ptx_space)i->space);
    uint32_t b = NO_OPERAND, d = NO_OPERAND;
    if (i->nops > at + 1 && op(L, at + 1)->kind != PTX_OPND_NONE)
        b = lower_src(L, op(L, at + 1), waits && !parity ? 64 : 32);
    if (at)
        d = waits ? lower_dst_pred(L, op(L, 0)) : lower_dst(L, op(L, 0), 64);
    struct insn *in = lower_emit(L, waits ? op_mbarrier_wait : op_mbarrier);
    lower_set_mem(in, &m);
    in->d = d;
    in->b = b;
    in->target = i->op;
    in->flags = (uint16_t)((parity ? INSN_PARITY : 0) | (i->flags & PTX_F_NOINC ? INSN_NOINC : 0) |
                           (i->flags & PTX_F_EXPECT_TX ? INSN_EXPECT_TX : 0) | INSN_STRONG);
}

static void lower_isspacep(struct lower *L)
{
    uint32_t a = lower_src(L, op(L, 1), 64), d = lower_dst_pred(L, op(L, 0));
    struct insn *in = lower_emit(L, op_isspacep);
    in->a = a;
    in->d = d;
    in->mode = L->inst->space;
}

// a is the address, b the block's rank in the cluster; imm is the part of a generic address above
// them
static void lower_of_cluster(struct lower *L, insn_fn *run)
{
    const struct ptx_inst *i = L->inst;
    unsigned bits = lower_type_bits((enum ptx_type)i->type[0]);
    uint32_t a = lower_src(L, op(L, 1), bits), b = NO_OPERAND;
    if (i->op == PTX_OP_MAPA)
        b = lower_src(L, op(L, 2), 32);
    uint32_t d = lower_dst(L, op(L, 0), i->op == PTX_OP_MAPA ? bits : 32);
    struct insn *in = lower_emit(L, run);
    in->a = a;
    in->b = b;
    in->d = d;
    in->type = i->type[0];
    in->imm = i->space == PTX_SPACE_GENERIC ? MEM_SHARED_WINDOW : 0;
}

bool lower_memory(struct lower *L)
{
    switch (L->inst->op) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        lower_ld(L);
        return true;
    case PTX_OP_ST:
        lower_st(L);
        return true;
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        lower_atom(L);
        return true;
    case PTX_OP_CP_ASYNC:
        lower_cp_async(L);
        return true;
    case PTX_OP_CP_ASYNC_BULK:
    case PTX_OP_CP_REDUCE_ASYNC_BULK:
        lower_bulk(L);
        return true;
    case PTX_OP_CP_ASYNC_BULK_TENSOR:
    case PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR:
    case PTX_OP_CP_ASYNC_BULK_PREFETCH_TENSOR:
        lower_tensor(L);
        return true;
    case PTX_OP_CP_ASYNC_BULK_COMMIT:
    case PTX_OP_CP_ASYNC_BULK_PREFETCH:
    case PTX_OP_CP_ASYNC_BULK_WAIT:
    case PTX_OP_CP_ASYNC_COMMIT:
    case PTX_OP_CP_ASYNC_WAIT:
    case PTX_OP_CP_ASYNC_WAIT_ALL:
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_APPLYPRIORITY:
    case PTX_OP_DISCARD:
        return true;
    case PTX_OP_CREATEPOLICY:
    case PTX_OP_CREATEPOLICY_CVT:
        lower_alu1(L, ALU_mov_b64, lower_dst(L, op(L, 0), 64), lower_const64(L, 0));
        return true;
    case PTX_OP_CP_ASYNC_MBARRIER:
    case PTX_OP_MBARRIER_INIT:
    case PTX_OP_MBARRIER_INVAL:
    case PTX_OP_MBARRIER_ARRIVE:
    case PTX_OP_MBARRIER_ARRIVE_DROP:
    case PTX_OP_MBARRIER_TEST_WAIT:
    case PTX_OP_MBARRIER_TRY_WAIT:
    case PTX_OP_MBARRIER_EXPECT_TX:
    case PTX_OP_MBARRIER_COMPLETE_TX:
        lower_mbarrier(L);
        return true;
    case PTX_OP_ST_ASYNC:
        lower_st_async(L);
        return true;
    case PTX_OP_MBARRIER_PENDING: {
        uint32_t t = lower_temp(L, 64), a = lower_src(L, op(L, 1), 64);
        lower_alu3(L, ALU_bfe_u64, t, a, lower_const32(L, 20), lower_const32(L, 20));
        lower_alu1(L, ALU_low_b32, lower_dst(L, op(L, 0), 32), t);
        return true;
    }
    case PTX_OP_MAPA:
        lower_of_cluster(L, op_mapa);
        return true;
    case PTX_OP_GETCTARANK:
        lower_of_cluster(L, op_getctarank);
        return true;
    case PTX_OP_ISSPACEP:
        lower_isspacep(L);
        return true;
    default:
        return false;
    }
}

// Integer arithmetic: selects a handler by opcode, type and mode. typed.h has what bits.c and
// compare.c share with it.
#include <errno.h>

#include "softcuda/lower/typed.h"

int lower_kind(enum ptx_type t)
{
    bool is_signed = ptx_type_is_signed(t);
    switch (ptx_type_bits(t)) {
    case 16:
        return is_signed ? S16 : U16;
    case 32:
        return is_signed ? S32 : U32;
    case 64:
        return is_signed ? S64 : U64;
    default:
        return -1;
    }
}

enum alu lower_pick(struct lower *L, const enum alu row[KINDS])
{
    int kind = lower_kind(type(L, 0));
    if (kind >= 0 && row[kind] != NOT_THERE)
        return row[kind];
    lower_fail(L, -ENOTSUP, "not for type %s", ptx_type_name(type(L, 0)));
    return ALU_mov_b32;
}

void lower_binary(struct lower *L, enum alu alu)
{
    uint32_t a = lower_src_type(L, op(L, 1), type(L, 0));
    uint32_t b = lower_src_type(L, op(L, 2), type(L, 0));
    lower_alu2(L, alu, lower_dst(L, op(L, 0), bits(L)), a, b);
}

void lower_unary(struct lower *L, enum alu alu, unsigned result_bits)
{
    uint32_t a = lower_src_type(L, op(L, 1), type(L, 0));
    lower_alu1(L, alu, lower_dst(L, op(L, 0), result_bits), a);
}

void lower_ternary32(struct lower *L, enum alu alu, uint64_t imm, uint16_t flags)
{
    uint32_t s[3];
    for (unsigned i = 0; i < 3; i++)
        s[i] = lower_src(L, op(L, i + 1), 32);
    struct insn *in = lower_alu3(L, alu, lower_dst(L, op(L, 0), 32), s[0], s[1], s[2]);
    in->imm = imm;
    in->flags = flags;
}

// Extends signed 16-bit operands to 32 bits, for operations without a 16-bit handler.
static uint32_t widen16(struct lower *L, uint32_t slot, bool is_signed)
{
    uint32_t t = lower_temp(L, 32);
    lower_alu1(L, is_signed ? ALU_ext_s16 : ALU_ext_u16, t, slot);
    return t;
}

// Computes in 32 bits, then truncates to 16.
static void by_widening(struct lower *L, enum alu alu, unsigned sources)
{
    bool is_signed = ptx_type_is_signed(type(L, 0));
    uint32_t s[3] = {0};
    for (unsigned i = 0; i < sources; i++)
        s[i] = widen16(L, lower_src_type(L, op(L, i + 1), type(L, 0)), is_signed);
    uint32_t t = lower_temp(L, 32);
    lower_alu3(L, alu, t, s[0], s[1], s[2]);
    lower_alu1(L, ALU_ext_u16, lower_dst(L, op(L, 0), 32), t);
}

// ---- Carry chains

static void carry_chain(struct lower *L, enum ptx_op base, bool reads)
{
    unsigned w = bits(L);
    uint32_t s[3] = {0};
    for (unsigned i = 0; i + 1 < L->inst->nops && i < 3; i++)
        s[i] = lower_src(L, op(L, i + 1), w);
    struct insn *in = lower_emit(L, op_carry);
    in->a = s[0];
    in->b = s[1];
    in->c = s[2];
    in->d = lower_dst(L, op(L, 0), w);
    in->target = L->carry;
    in->type = (uint8_t)type(L, 0);
    in->mode = base == PTX_OP_MAD ? L->inst->mode : PTX_MODE_NONE;
    in->imm =
        (base == PTX_OP_SUB ? 1u : 0) | (reads ? 2u : 0) | (L->inst->flags & PTX_F_CC ? 4u : 0);
}

// ---- Sums and products

static void lower_add_sub(struct lower *L)
{
    static const enum alu add[KINDS] = {ALU_add_b16, ALU_add_b16, ALU_add_b32,
                                        ALU_add_b32, ALU_add_b64, ALU_add_b64};
    static const enum alu sub[KINDS] = {ALU_sub_b16, ALU_sub_b16, ALU_sub_b32,
                                        ALU_sub_b32, ALU_sub_b64, ALU_sub_b64};
    bool is_add = L->inst->op == PTX_OP_ADD;
    if (L->inst->flags & PTX_F_CC)
        carry_chain(L, (enum ptx_op)L->inst->op, false);
    else if (L->inst->flags & PTX_F_SAT)
        lower_binary(L, is_add ? ALU_add_sat_s32 : ALU_sub_sat_s32);
    else if (type(L, 0) == PTX_T_U16X2 || type(L, 0) == PTX_T_S16X2)
        lower_binary(L, is_add ? ALU_add_b16x2 : ALU_sub_b16x2);
    else
        lower_binary(L, lower_pick(L, is_add ? add : sub));
}

static void lower_mul(struct lower *L)
{
    static const enum alu lo[KINDS] = {ALU_mul_b16, ALU_mul_b16, ALU_mul_b32,
                                       ALU_mul_b32, ALU_mul_b64, ALU_mul_b64};
    static const enum alu hi[KINDS] = {ALU_mul_hi_u16, ALU_mul_hi_s16, ALU_mul_hi_u32,
                                       ALU_mul_hi_s32, ALU_mul_hi_u64, ALU_mul_hi_s64};
    static const enum alu wide[KINDS] = {ALU_mul_wide_u16, ALU_mul_wide_s16, ALU_mul_wide_u32,
                                         ALU_mul_wide_s32, NOT_THERE,        NOT_THERE};
    if (L->inst->mode != PTX_MODE_WIDE) {
        lower_binary(L, lower_pick(L, L->inst->mode == PTX_MODE_HI ? hi : lo));
        return;
    }
    uint32_t a = lower_src_type(L, op(L, 1), type(L, 0));
    uint32_t b = lower_src_type(L, op(L, 2), type(L, 0));
    unsigned result = ptx_type_bits(type(L, 0)) == 16 ? 32 : 64;
    lower_alu2(L, lower_pick(L, wide), lower_dst(L, op(L, 0), result), a, b);
}

static void lower_mad(struct lower *L)
{
    static const enum alu lo[KINDS] = {ALU_mad_b16, ALU_mad_b16, ALU_mad_b32,
                                       ALU_mad_b32, ALU_mad_b64, ALU_mad_b64};
    static const enum alu hi[KINDS] = {ALU_mad_hi_u16, ALU_mad_hi_s16, ALU_mad_hi_u32,
                                       ALU_mad_hi_s32, ALU_mad_hi_u64, ALU_mad_hi_s64};
    static const enum alu wide[KINDS] = {ALU_mad_wide_u16, ALU_mad_wide_s16, ALU_mad_wide_u32,
                                         ALU_mad_wide_s32, NOT_THERE,        NOT_THERE};
    bool is_wide = L->inst->mode == PTX_MODE_WIDE;
    enum alu alu = lower_pick(L, is_wide ? wide : L->inst->mode == PTX_MODE_HI ? hi : lo);
    if (L->inst->flags & PTX_F_SAT)
        alu = ALU_mad_hi_sat_s32;
    unsigned result = !is_wide ? bits(L) : ptx_type_bits(type(L, 0)) == 16 ? 32 : 64;
    uint32_t a = lower_src_type(L, op(L, 1), type(L, 0));
    uint32_t b = lower_src_type(L, op(L, 2), type(L, 0));
    uint32_t c = is_wide ? lower_src(L, op(L, 3), result) : lower_src_type(L, op(L, 3), type(L, 0));
    lower_alu3(L, alu, lower_dst(L, op(L, 0), result), a, b, c);
}

static void lower_mul24(struct lower *L)
{
    bool is_signed = ptx_type_is_signed(type(L, 0)), hi = L->inst->mode == PTX_MODE_HI;
    enum alu alu = hi ? (is_signed ? ALU_mul24_hi_s32 : ALU_mul24_hi_u32)
                      : (is_signed ? ALU_mul24_lo_s32 : ALU_mul24_lo_u32);
    if (L->inst->op == PTX_OP_MUL24) {
        lower_binary(L, alu);
        return;
    }
    uint32_t t = lower_temp(L, 32);
    lower_alu2(L, alu, t, lower_src(L, op(L, 1), 32), lower_src(L, op(L, 2), 32));
    lower_alu2(L, L->inst->flags & PTX_F_SAT ? ALU_add_sat_s32 : ALU_add_b32,
               lower_dst(L, op(L, 0), 32), t, lower_src(L, op(L, 3), 32));
}

static void lower_dp4a(struct lower *L)
{
    bool a = ptx_type_is_signed(type(L, 0)), b = ptx_type_is_signed(type(L, 1));
    if (!a && b) { // multiplication commutes: the unsigned operand becomes the second
        uint32_t s[3];
        for (unsigned i = 0; i < 3; i++)
            s[i] = lower_src(L, op(L, i + 1), 32);
        lower_alu3(L, ALU_dp4a_su, lower_dst(L, op(L, 0), 32), s[1], s[0], s[2]);
        return;
    }
    lower_ternary32(L, a ? (b ? ALU_dp4a_ss : ALU_dp4a_su) : ALU_dp4a_uu, 0, 0);
}

static void lower_sad(struct lower *L)
{
    static const enum alu row[KINDS] = {NOT_THERE,   NOT_THERE,   ALU_sad_u32,
                                        ALU_sad_s32, ALU_sad_u64, ALU_sad_s64};
    if (ptx_type_bits(type(L, 0)) == 16) {
        by_widening(L, ptx_type_is_signed(type(L, 0)) ? ALU_sad_s32 : ALU_sad_u32, 3);
        return;
    }
    uint32_t s[3];
    for (unsigned i = 0; i < 3; i++)
        s[i] = lower_src(L, op(L, i + 1), bits(L));
    lower_alu3(L, lower_pick(L, row), lower_dst(L, op(L, 0), bits(L)), s[0], s[1], s[2]);
}

// ---- The rest

static void lower_divide(struct lower *L)
{
    static const enum alu div[KINDS] = {NOT_THERE,   NOT_THERE,   ALU_div_u32,
                                        ALU_div_s32, ALU_div_u64, ALU_div_s64};
    static const enum alu rem[KINDS] = {NOT_THERE,   NOT_THERE,   ALU_rem_u32,
                                        ALU_rem_s32, ALU_rem_u64, ALU_rem_s64};
    bool is_div = L->inst->op == PTX_OP_DIV, is_signed = ptx_type_is_signed(type(L, 0));
    if (ptx_type_bits(type(L, 0)) == 16)
        by_widening(L,
                    is_div ? (is_signed ? ALU_div_s32 : ALU_div_u32)
                           : (is_signed ? ALU_rem_s32 : ALU_rem_u32),
                    2);
    else
        lower_binary(L, lower_pick(L, is_div ? div : rem));
}

static void lower_abs_neg(struct lower *L)
{
    bool wide = bits(L) == 64, is_abs = L->inst->op == PTX_OP_ABS;
    if (ptx_type_bits(type(L, 0)) == 16)
        by_widening(L, is_abs ? ALU_abs_s32 : ALU_neg_b32, 1);
    else
        lower_unary(
            L, is_abs ? (wide ? ALU_abs_s64 : ALU_abs_s32) : (wide ? ALU_neg_b64 : ALU_neg_b32),
            bits(L));
}

static void lower_minmax(struct lower *L)
{
    static const enum alu least[KINDS] = {NOT_THERE,   NOT_THERE,   ALU_min_u32,
                                          ALU_min_s32, ALU_min_u64, ALU_min_s64};
    static const enum alu most[KINDS] = {NOT_THERE,   NOT_THERE,   ALU_max_u32,
                                         ALU_max_s32, ALU_max_u64, ALU_max_s64};
    bool min = L->inst->op == PTX_OP_MIN;
    enum ptx_type t = type(L, 0);
    enum alu relu = ALU_COUNT;
    if (t == PTX_T_U16X2 || t == PTX_T_S16X2) {
        bool s = t == PTX_T_S16X2;
        enum alu alu =
            min ? (s ? ALU_min_s16x2 : ALU_min_u16x2) : (s ? ALU_max_s16x2 : ALU_max_u16x2);
        lower_binary(L, alu);
        relu = ALU_relu_s16x2;
    } else if (ptx_type_bits(t) == 16) {
        by_widening(L,
                    ptx_type_is_signed(t) ? (min ? ALU_min_s32 : ALU_max_s32)
                                          : (min ? ALU_min_u32 : ALU_max_u32),
                    2);
    } else {
        lower_binary(L, lower_pick(L, min ? least : most));
        relu = ALU_relu_s32;
    }
    if (L->inst->flags & PTX_F_RELU && relu != ALU_COUNT) {
        uint32_t d = lower_dst(L, op(L, 0), 32);
        lower_alu1(L, relu, d, d);
    }
}

static bool is_integer(enum ptx_type t)
{
    return !ptx_type_is_float(t) && t != PTX_T_PRED;
}

bool lower_integer(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    bool integer = is_integer(type(L, 0));
    switch (i->op) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
        if (!integer)
            return false;
        lower_add_sub(L);
        return true;
    case PTX_OP_ADDC:
        carry_chain(L, PTX_OP_ADD, true);
        return true;
    case PTX_OP_SUBC:
        carry_chain(L, PTX_OP_SUB, true);
        return true;
    case PTX_OP_MADC:
        carry_chain(L, PTX_OP_MAD, true);
        return true;
    case PTX_OP_MUL:
        if (!integer)
            return false;
        lower_mul(L);
        return true;
    case PTX_OP_MAD:
        if (!integer)
            return false;
        if (i->flags & PTX_F_CC)
            carry_chain(L, PTX_OP_MAD, false);
        else
            lower_mad(L);
        return true;
    case PTX_OP_MUL24:
    case PTX_OP_MAD24:
        lower_mul24(L);
        return true;
    case PTX_OP_SAD:
        lower_sad(L);
        return true;
    case PTX_OP_DIV:
    case PTX_OP_REM:
        if (!integer)
            return false;
        lower_divide(L);
        return true;
    case PTX_OP_ABS:
    case PTX_OP_NEG:
        if (!integer)
            return false;
        lower_abs_neg(L);
        return true;
    case PTX_OP_MIN:
    case PTX_OP_MAX:
        if (!integer)
            return false;
        lower_minmax(L);
        return true;
    case PTX_OP_DP4A:
        lower_dp4a(L);
        return true;
    case PTX_OP_DP2A:
        lower_ternary32(L, ALU_dp2a, i->mode == PTX_MODE_HI ? 16 : 0,
                        (ptx_type_is_signed(type(L, 0)) ? 1 : 0) |
                            (ptx_type_is_signed(type(L, 1)) ? 2 : 0));
        return true;
    default:
        return false;
    }
}

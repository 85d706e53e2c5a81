// cvt between all types, and cvt.pack.
#include <errno.h>

#include "softcuda/lower/lower.h"

static const struct ptx_operand *op(const struct lower *L, unsigned i)
{
    return &L->inst->ops[i];
}

struct cvt {
    enum ptx_type to, from;
    unsigned to_bits, from_bits; // of the types
    unsigned dst_slot, src_slot; // of the registers, 32 or 64
    uint32_t d, a;
};

static void lower_extend(struct lower *L, uint32_t d, uint32_t a, enum ptx_type t, unsigned slot)
{
    bool is_signed = ptx_type_is_signed(t);
    unsigned bits = ptx_type_bits(t);
    enum alu alu = bits == 8    ? (is_signed ? ALU_ext_s8 : ALU_ext_u8)
                   : bits == 16 ? (is_signed ? ALU_ext_s16 : ALU_ext_u16)
                                : ALU_mov_b32;
    if (slot == 32) {
        lower_alu1(L, alu, d, a);
        return;
    }
    uint32_t t32 = a;
    if (bits < 32) {
        t32 = lower_temp(L, 32);
        lower_alu1(L, alu, t32, a);
    }
    lower_alu1(L, is_signed ? ALU_ext_s32_b64 : ALU_ext_u32_b64, d, t32);
}

// Moves an integer result, in 32 bits, into its register: 16-bit registers have zeros above it,
// wider ones the extended value.
static void lower_store_int(struct lower *L, const struct cvt *c, uint32_t value)
{
    const struct ptx_operand *d = op(L, 0);
    unsigned reg =
        d->kind == PTX_OPND_REG ? ptx_type_bits((enum ptx_type)L->func->regs[d->reg].type) : 32;
    if (reg == 16 && c->to_bits == 8 && ptx_type_is_signed(c->to))
        lower_alu1(L, ALU_ext_s8_b16, c->d, value);
    else if (reg == 16)
        lower_alu1(L, c->to_bits == 8 ? ALU_ext_u8 : ALU_ext_u16, c->d, value);
    else
        lower_extend(L, c->d, value, c->to, c->dst_slot);
}

// Saturates an integer to an integer type, by both their signs.
static uint32_t lower_clamp(struct lower *L, const struct cvt *c, uint32_t a)
{
    bool from_signed = ptx_type_is_signed(c->from), to_signed = ptx_type_is_signed(c->to);
    uint32_t t = lower_temp(L, 32);
    if (c->from_bits == 64) {
        enum alu alu = from_signed ? (to_signed ? ALU_clamp_s32_s64 : ALU_clamp_u32_s64)
                                   : (to_signed ? ALU_clamp_s32_u64 : ALU_clamp_u32_u64);
        lower_alu1(L, alu, t, a);
        a = t;
        t = lower_temp(L, 32);
        from_signed = to_signed;
    }
    enum alu alu = ALU_mov_b32;
    if (c->to_bits == 32)
        alu = from_signed == to_signed ? ALU_mov_b32
              : from_signed            ? ALU_clamp_u32_s32
                                       : ALU_clamp_s32_u32;
    else if (c->to_bits == 16)
        alu = from_signed ? (to_signed ? ALU_clamp_s16_s32 : ALU_clamp_u16_s32)
                          : (to_signed ? ALU_clamp_s16_u32 : ALU_clamp_u16_u32);
    else
        alu = from_signed ? (to_signed ? ALU_clamp_s8_s32 : ALU_clamp_u8_s32)
                          : (to_signed ? ALU_clamp_s8_u32 : ALU_clamp_u8_u32);
    lower_alu1(L, alu, t, a);
    return t;
}

static void cvt_int_int(struct lower *L, const struct cvt *c)
{
    bool sat = L->inst->flags & PTX_F_SAT;
    bool from_signed = ptx_type_is_signed(c->from);
    if (c->to_bits == 64) {
        if (c->from_bits < 64) {
            if (sat && from_signed && !ptx_type_is_signed(c->to)) {
                uint32_t t = lower_temp(L, 64);
                lower_extend(L, t, c->a, c->from, 64);
                lower_alu1(L, ALU_clamp_u64_s64, c->d, t);
            } else {
                lower_extend(L, c->d, c->a, c->from, 64);
            }
        } else {
            bool to_signed = ptx_type_is_signed(c->to);
            lower_alu1(L,
                       !sat || from_signed == to_signed ? ALU_mov_b64
                       : from_signed                    ? ALU_clamp_u64_s64
                                                        : ALU_clamp_s64_u64,
                       c->d, c->a);
        }
        return;
    }
    if (c->from_bits == 64) {
        uint32_t t;
        if (sat) {
            t = lower_clamp(L, c, c->a);
        } else {
            t = lower_temp(L, 32);
            lower_alu1(L, ALU_low_b32, t, c->a);
        }
        lower_store_int(L, c, t);
        return;
    }
    // t becomes the source's bits, extended to 32
    uint32_t t = c->a;
    if (c->from_bits < 32) {
        t = lower_temp(L, 32);
        lower_extend(L, t, c->a, c->from, 32);
    }
    if (sat)
        t = lower_clamp(L, c, t);
    lower_store_int(L, c, t);
}

static struct insn *modify(struct lower *L, struct insn *in)
{
    const struct ptx_inst *i = L->inst;
    in->flags =
        (uint16_t)((i->flags & PTX_F_FTZ ? INSN_FTZ : 0) | (i->flags & PTX_F_SAT ? INSN_SAT : 0) |
                   (i->flags & PTX_F_RELU ? INSN_RELU : 0) |
                   (i->flags & PTX_F_SATFINITE ? INSN_SATFINITE : 0));
    in->mode = i->rnd;
    return in;
}

static bool is_plain(const struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    return (i->rnd == PTX_RND_NONE || i->rnd == PTX_RND_RN) &&
           !(i->flags & (PTX_F_FTZ | PTX_F_SAT | PTX_F_RELU | PTX_F_SATFINITE));
}

static bool is_half(enum ptx_type t)
{
    return t == PTX_T_F16 || t == PTX_T_BF16;
}

static void cvt_int_float(struct lower *L, const struct cvt *c)
{
    bool is_signed = ptx_type_is_signed(c->from), plain = is_plain(L);
    uint32_t a = c->a;
    if (c->from_bits < 32) {
        a = lower_temp(L, 32);
        lower_extend(L, a, c->a, c->from, 32);
    }
    if (is_half(c->to)) { // through a double, which is exact or rounded to odd
        uint32_t t = lower_temp(L, 64);
        lower_alu1(L,
                   c->from_bits == 64 ? (is_signed ? ALU_cvt_odd_s64 : ALU_cvt_odd_u64)
                                      : (is_signed ? ALU_cvt_f64_s32 : ALU_cvt_f64_u32),
                   t, a);
        modify(L, lower_alu1(L, c->to == PTX_T_F16 ? ALU_cvt_f16_f64 : ALU_cvt_bf16_f64, c->d, t));
        return;
    }
    if (c->to == PTX_T_F64 && c->from_bits < 64 && L->inst->flags & PTX_F_SAT) {
        uint32_t t = lower_temp(L, 64);
        lower_alu1(L, is_signed ? ALU_cvt_f64_s32 : ALU_cvt_f64_u32, t, a);
        modify(L, lower_alu1(L, ALU_ident_f64_any, c->d, t));
        return;
    }
    static const enum alu rows[2][2][2][2] = {
        // [f64][64-bit source][signed][any]
        {{{ALU_cvt_f32_u32, ALU_cvt_f32_u32_any}, {ALU_cvt_f32_s32, ALU_cvt_f32_s32_any}},
         {{ALU_cvt_f32_u64, ALU_cvt_f32_u64_any}, {ALU_cvt_f32_s64, ALU_cvt_f32_s64_any}}},
        {{{ALU_cvt_f64_u32, ALU_cvt_f64_u32}, {ALU_cvt_f64_s32, ALU_cvt_f64_s32}},
         {{ALU_cvt_f64_u64, ALU_cvt_f64_u64_any}, {ALU_cvt_f64_s64, ALU_cvt_f64_s64_any}}}};
    modify(L,
           lower_alu1(L, rows[c->to == PTX_T_F64][c->from_bits == 64][is_signed][!plain], c->d, a));
}

// Widens a narrow float to f32.
static uint32_t widen(struct lower *L, const struct cvt *c)
{
    if (!is_half(c->from))
        return c->a;
    uint32_t t = lower_temp(L, 32);
    struct insn *in = lower_alu1(L, c->from == PTX_T_F16 ? ALU_widen_f16 : ALU_widen_bf16, t, c->a);
    in->flags = 0;
    return t;
}

static void cvt_float_int(struct lower *L, const struct cvt *c)
{
    bool is_signed = ptx_type_is_signed(c->to), wide = c->from == PTX_T_F64;
    uint32_t a = widen(L, c);
    if (c->to_bits == 32 && !wide && L->inst->rnd == PTX_RND_RZI && !(L->inst->flags & PTX_F_FTZ)) {
        uint32_t t = c->dst_slot == 64 ? lower_temp(L, 32) : c->d;
        lower_alu1(L, is_signed ? ALU_cvt_s32_f32_rzi : ALU_cvt_u32_f32_rzi, t, a);
        if (t != c->d)
            lower_extend(L, c->d, t, c->to, 64);
        return;
    }
    uint32_t t = c->to_bits == 64 ? c->d : lower_temp(L, 32);
    enum alu alu = c->to_bits == 64 ? (wide ? ALU_cvt_int64_f64 : ALU_cvt_int64_f32)
                                    : (wide ? ALU_cvt_int_f64 : ALU_cvt_int_f32);
    struct insn *in = modify(L, lower_alu1(L, alu, t, a));
    in->flags = (uint16_t)((in->flags & INSN_FTZ) | (is_signed ? INSN_SIGNED : 0));
    in->imm = c->to_bits;
    if (c->to_bits != 64)
        lower_store_int(L, c, t);
}

static bool rounds_to_integral(const struct lower *L)
{
    return L->inst->rnd >= PTX_RND_RNI;
}

static void cvt_float_float(struct lower *L, const struct cvt *c)
{
    bool plain = is_plain(L);
    if (rounds_to_integral(L)) {
        uint32_t a = widen(L, c), t = is_half(c->to) ? lower_temp(L, 32) : c->d;
        if (c->to != c->from)
            lower_fail(L, -ENOTSUP, "rounding to an integral value of another type");
        modify(L, lower_alu1(L, c->to == PTX_T_F64 ? ALU_round_f64 : ALU_round_f32, t, a));
        if (is_half(c->to))
            lower_alu1(L, c->to == PTX_T_F16 ? ALU_cvt_f16_f32 : ALU_cvt_bf16_f32, c->d, t);
        return;
    }
    if (c->to == PTX_T_F64) {
        uint32_t a = widen(L, c);
        enum alu alu = c->from == PTX_T_F64 ? ALU_ident_f64_any
                       : plain              ? ALU_cvt_f64_f32
                                            : ALU_cvt_f64_f32_any;
        modify(L, lower_alu1(L, alu, c->d, a));
    } else if (c->to == PTX_T_F32) {
        enum alu alu = c->from == PTX_T_F64    ? (plain ? ALU_cvt_f32_f64 : ALU_cvt_f32_f64_any)
                       : c->from == PTX_T_F16  ? ALU_cvt_f32_f16
                       : c->from == PTX_T_BF16 ? ALU_cvt_f32_bf16
                       : !L->inst->flags && !L->inst->rnd ? ALU_mov_b32
                                                          : ALU_ident_f32_any;
        modify(L, lower_alu1(L, alu, c->d, c->a));
    } else if (c->to == PTX_T_TF32) {
        modify(L, lower_alu1(L, ALU_cvt_tf32_f32, c->d, c->a));
    } else if (c->from == PTX_T_F64) {
        modify(L,
               lower_alu1(L, c->to == PTX_T_F16 ? ALU_cvt_f16_f64 : ALU_cvt_bf16_f64, c->d, c->a));
    } else {
        bool f16 = c->to == PTX_T_F16;
        modify(L, lower_alu1(L,
                             plain ? (f16 ? ALU_cvt_f16_f32 : ALU_cvt_bf16_f32)
                                   : (f16 ? ALU_cvt_f16_f32_any : ALU_cvt_bf16_f32_any),
                             c->d, widen(L, c)));
    }
}

static void cvt_packed(struct lower *L)
{
    enum ptx_type to = (enum ptx_type)L->inst->type[0], from = (enum ptx_type)L->inst->type[1];
    bool two = L->inst->nops > 2 && op(L, 2)->kind != PTX_OPND_NONE;
    uint32_t d = lower_dst(L, op(L, 0), 32), a = lower_src(L, op(L, 1), 32);
    enum alu alu = ALU_COUNT;
    if (from == PTX_T_F32 && two)
        alu = to == PTX_T_F16X2    ? ALU_cvt_f16x2_f32
              : to == PTX_T_BF16X2 ? ALU_cvt_bf16x2_f32
              : to == PTX_T_E4M3X2 ? ALU_cvt_e4m3x2_f32
              : to == PTX_T_E5M2X2 ? ALU_cvt_e5m2x2_f32
                                   : ALU_COUNT;
    else if (from == PTX_T_F16X2)
        alu = to == PTX_T_E4M3X2   ? ALU_cvt_e4m3x2_f16x2
              : to == PTX_T_E5M2X2 ? ALU_cvt_e5m2x2_f16x2
                                   : ALU_COUNT;
    else if (to == PTX_T_F16X2)
        alu = from == PTX_T_E4M3X2   ? ALU_cvt_f16x2_e4m3x2
              : from == PTX_T_E5M2X2 ? ALU_cvt_f16x2_e5m2x2
                                     : ALU_COUNT;
    if (alu == ALU_COUNT || L->inst->rnd == PTX_RND_RS ||
        (L->inst->nops > 3 && op(L, 3)->kind != PTX_OPND_NONE)) {
        lower_fail(L, -ENOTSUP, "this conversion");
        return;
    }
    modify(L, lower_alu2(L, alu, d, a, two ? lower_src(L, op(L, 2), 32) : a));
}

// Packs to 2 and 4 bits: values are clamped and truncated, and c is shifted up by the size of both.
static void pack_narrow(struct lower *L, enum ptx_type to)
{
    unsigned bits = ptx_type_bits(to);
    bool is_signed = ptx_type_is_signed(to);
    int32_t most = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    uint32_t low = lower_const32(L, is_signed ? (uint32_t)(-most - 1) : 0);
    uint32_t high = lower_const32(L, (uint32_t)most), kept = lower_const32(L, (1u << bits) - 1);
    uint32_t s[2], t = lower_temp(L, 32);
    for (unsigned i = 0; i < 2; i++) {
        s[i] = lower_temp(L, 32);
        lower_alu2(L, ALU_max_s32, s[i], lower_src(L, op(L, 1 + i), 32), low);
        lower_alu2(L, ALU_min_s32, s[i], s[i], high);
        lower_alu2(L, ALU_and_b32, s[i], s[i], kept);
    }
    lower_alu2(L, ALU_shl_b32, s[0], s[0], lower_const32(L, bits));
    lower_alu2(L, ALU_or_b32, s[0], s[0], s[1]);
    lower_alu2(L, ALU_shl_b32, t, lower_src(L, op(L, 3), 32), lower_const32(L, 2 * bits));
    lower_alu2(L, ALU_or_b32, lower_dst(L, op(L, 0), 32), s[0], t);
}

// cvt.pack.sat.TYPE.s32 d, a, b{, c} puts a above b, above c's upper part
static void lower_cvt_pack(struct lower *L)
{
    struct cvt c = {.to = (enum ptx_type)L->inst->type[0], .from = PTX_T_S32, .from_bits = 32};
    c.to_bits = ptx_type_bits(c.to);
    if (c.to_bits < 8) {
        pack_narrow(L, c.to);
        return;
    }
    uint32_t a = lower_clamp(L, &c, lower_src(L, op(L, 1), 32));
    uint32_t b = lower_clamp(L, &c, lower_src(L, op(L, 2), 32));
    uint32_t d = lower_dst(L, op(L, 0), 32), t = lower_temp(L, 32);
    if (c.to_bits == 16) {
        lower_alu2(L, ALU_pack_b32_b16, d, b, a);
        return;
    }
    lower_alu2(L, ALU_pack_b16_b8, t, b, a);
    if (L->inst->nops > 3 && op(L, 3)->kind != PTX_OPND_NONE)
        lower_alu2(L, ALU_pack_b32_b16, d, t, lower_src(L, op(L, 3), 32));
    else
        lower_alu1(L, ALU_mov_b32, d, t);
}

static void lower_cvt(struct lower *L)
{
    struct cvt c = {.to = (enum ptx_type)L->inst->type[0], .from = (enum ptx_type)L->inst->type[1]};
    c.to_bits = ptx_type_bits(c.to);
    c.from_bits = ptx_type_bits(c.from);
    bool packed = c.to == PTX_T_F16X2 || c.to == PTX_T_BF16X2 || c.from == PTX_T_F16X2 ||
                  c.to == PTX_T_E4M3X2 || c.to == PTX_T_E5M2X2;
    if (packed) {
        cvt_packed(L);
        return;
    }
    bool to_float = ptx_type_is_float(c.to), from_float = ptx_type_is_float(c.from);
    c.src_slot = lower_type_bits(c.from);
    c.dst_slot = lower_opnd_bits(L, op(L, 0)) == 64 ? 64 : 32;
    if (c.to_bits == 64 || to_float)
        c.dst_slot = lower_type_bits(c.to);
    c.a = lower_src(L, op(L, 1), c.src_slot);
    c.d = lower_dst(L, op(L, 0), c.dst_slot);
    if (!to_float && !from_float)
        cvt_int_int(L, &c);
    else if (!from_float)
        cvt_int_float(L, &c);
    else if (!to_float)
        cvt_float_int(L, &c);
    else
        cvt_float_float(L, &c);
}

bool lower_convert(struct lower *L)
{
    switch (L->inst->op) {
    case PTX_OP_CVT:
        lower_cvt(L);
        return true;
    case PTX_OP_CVT_PACK:
        lower_cvt_pack(L);
        return true;
    default:
        return false;
    }
}

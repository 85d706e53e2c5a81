// Floating-point arithmetic: selects a handler by opcode, type, rounding and modifiers. To-nearest
// f32 and f64 have handlers of their own; every other combination uses the general one, which
// checks insn.flags and insn.mode.
#include <errno.h>

#include "softcuda/lower/lower.h"

// Handlers of one operation, by type. ALU_COUNT: not supported.
struct float_row {
    enum alu f32, f32_ftz, f32_any, f64, f64_any, f16, bf16, f16_any, bf16_any, f16x2, bf16x2;
};
#define NO ALU_COUNT
#define ROW(n)                                                                                     \
    {                                                                                              \
        ALU_##n##_f32, ALU_##n##_f32_ftz, ALU_##n##_f32_any, ALU_##n##_f64, ALU_##n##_f64_any,     \
            ALU_##n##_f16, ALU_##n##_bf16, ALU_##n##_f16_any, ALU_##n##_bf16_any, ALU_##n##_f16x2, \
            ALU_##n##_bf16x2                                                                       \
    }

static const struct ptx_operand *op(const struct lower *L, unsigned i)
{
    return &L->inst->ops[i];
}

static uint16_t flags_of(const struct ptx_inst *i)
{
    return (uint16_t)((i->flags & PTX_F_FTZ ? INSN_FTZ : 0) |
                      (i->flags & PTX_F_SAT ? INSN_SAT : 0) |
                      (i->flags & PTX_F_RELU ? INSN_RELU : 0));
}

static bool is_nearest(const struct ptx_inst *i)
{
    return i->rnd == PTX_RND_NONE || i->rnd == PTX_RND_RN;
}

static enum alu choose(struct lower *L, const struct float_row *r, enum ptx_type t)
{
    const struct ptx_inst *i = L->inst;
    bool plain = is_nearest(i) && !(i->flags & (PTX_F_SAT | PTX_F_RELU));
    bool ftz = i->flags & PTX_F_FTZ;
    enum alu alu = NO;
    switch (t) {
    case PTX_T_F32:
        alu = !plain ? r->f32_any : ftz ? r->f32_ftz : r->f32;
        break;
    case PTX_T_F64:
        alu = plain ? r->f64 : r->f64_any;
        break;
    case PTX_T_F16:
        alu = plain && !ftz ? r->f16 : r->f16_any;
        break;
    case PTX_T_BF16:
        alu = plain ? r->bf16 : r->bf16_any;
        break;
    case PTX_T_F16X2:
        alu = r->f16x2;
        break;
    case PTX_T_BF16X2:
        alu = r->bf16x2;
        break;
    default:
        break;
    }
    if (alu != NO)
        return alu;
    lower_fail(L, -ENOTSUP, "not for type %s", ptx_type_name(t));
    return ALU_mov_b32;
}

static struct insn *finish(struct lower *L, struct insn *in)
{
    in->flags = flags_of(L->inst);
    in->mode = L->inst->rnd;
    return in;
}

static enum ptx_type type(const struct lower *L)
{
    return (enum ptx_type)L->inst->type[0];
}

static uint32_t dst(struct lower *L)
{
    return lower_dst(L, op(L, 0), lower_type_bits(type(L)));
}

static uint32_t src(struct lower *L, unsigned i)
{
    return lower_src_type(L, op(L, i), type(L));
}

static void binary(struct lower *L, const struct float_row *r)
{
    uint32_t a = src(L, 1), b = src(L, 2);
    finish(L, lower_alu2(L, choose(L, r, type(L)), dst(L), a, b));
}

// Widens one operand of a narrow type in an f32 operation.
static uint32_t widen(struct lower *L, const struct ptx_operand *o, enum ptx_type t)
{
    uint32_t s = lower_src_type(L, o, t), w = lower_temp(L, 32);
    if (t == PTX_T_F32)
        return s;
    lower_alu1(L, t == PTX_T_BF16 ? ALU_cvt_f32_bf16 : ALU_cvt_f32_f16, w, s);
    return w;
}

static void lower_add_sub_mul(struct lower *L)
{
    static const struct float_row rows[] = {ROW(add), ROW(sub), ROW(mul)};
    unsigned row = L->inst->op == PTX_OP_ADD ? 0 : L->inst->op == PTX_OP_SUB ? 1 : 2;
    enum ptx_type t1 = (enum ptx_type)L->inst->type[1];
    if (t1 == PTX_T_F16 || t1 == PTX_T_BF16) { // mixed precision
        uint32_t a = widen(L, op(L, 1), t1), b = src(L, 2);
        finish(L, lower_alu2(L, choose(L, &rows[row], type(L)), dst(L), a, b));
        return;
    }
    binary(L, &rows[row]);
}

static void lower_fma(struct lower *L)
{
    static const struct float_row row = {
        ALU_fma_f32,  ALU_fma_f32_ftz, ALU_fma_f32_any, ALU_fma_f64,   ALU_fma_f64_any, ALU_fma_f16,
        ALU_fma_bf16, ALU_fma_f16_any, ALU_fma_bf16,    ALU_fma_f16x2, ALU_fma_bf16x2};
    static const struct float_row oob = {NO,
                                         NO,
                                         NO,
                                         NO,
                                         NO,
                                         ALU_fma_oob_f16,
                                         ALU_fma_oob_bf16,
                                         ALU_fma_oob_f16,
                                         ALU_fma_oob_bf16,
                                         ALU_fma_oob_f16x2,
                                         ALU_fma_oob_bf16x2};
    enum ptx_type t1 = (enum ptx_type)L->inst->type[1];
    bool mixed = t1 == PTX_T_F16 || t1 == PTX_T_BF16;
    uint32_t a = mixed ? widen(L, op(L, 1), t1) : src(L, 1);
    uint32_t b = mixed ? widen(L, op(L, 2), t1) : src(L, 2);
    uint32_t c = src(L, 3);
    const struct float_row *by = L->inst->flags & PTX_F_OOB ? &oob : &row;
    enum alu alu = choose(L, by, type(L));
    if (alu == ALU_fma_f16x2 && L->inst->flags & (PTX_F_FTZ | PTX_F_SAT | PTX_F_RELU))
        alu = ALU_fma_f16x2_any;
    finish(L, lower_alu3(L, alu, dst(L), a, b, c));
}

static void lower_div(struct lower *L)
{
    static const struct float_row row = {ALU_div_f32,
                                         ALU_div_f32_ftz,
                                         ALU_div_f32_any,
                                         ALU_div_f64,
                                         ALU_div_f64_any,
                                         NO,
                                         NO,
                                         NO,
                                         NO,
                                         NO,
                                         NO};
    static const struct float_row approx = {ALU_div_approx_f32,
                                            ALU_div_approx_f32_ftz,
                                            ALU_div_approx_f32_any,
                                            NO,
                                            NO,
                                            NO,
                                            NO,
                                            NO,
                                            NO,
                                            NO,
                                            NO};
    binary(L, L->inst->flags & PTX_F_APPROX ? &approx : &row);
}

// Lowers min or max by magnitude, with the exclusive or of both signs; a NaN has no sign.
static void lower_xorsign(struct lower *L, enum alu alu, uint32_t d, uint32_t a, uint32_t b)
{
    enum ptx_type t = type(L);
    uint32_t signs = t == PTX_T_F32                      ? 0x80000000u
                     : t == PTX_T_F16 || t == PTX_T_BF16 ? 0x8000u
                                                         : 0x80008000u;
    uint32_t pa = lower_temp(L, 32), pb = lower_temp(L, 32), sign = lower_temp(L, 32),
             m = lower_temp(L, 32);
    if (t == PTX_T_F64 || op(L, 3)->kind != PTX_OPND_NONE) {
        lower_fail(L, -ENOTSUP, "xorsign of this type");
        return;
    }
    lower_alu2(L, ALU_and_b32, pa, a, lower_const32(L, ~signs));
    lower_alu2(L, ALU_and_b32, pb, b, lower_const32(L, ~signs));
    lower_alu2(L, ALU_xor_b32, sign, a, b);
    lower_alu2(L, ALU_and_b32, sign, sign, lower_const32(L, signs));
    finish(L, lower_alu2(L, alu, m, pa, pb));
    lower_alu2(L,
               t == PTX_T_F32     ? ALU_xorsign_f32
               : t == PTX_T_F16   ? ALU_xorsign_f16
               : t == PTX_T_BF16  ? ALU_xorsign_bf16
               : t == PTX_T_F16X2 ? ALU_xorsign_f16x2
                                  : ALU_xorsign_bf16x2,
               d, m, sign);
}

static void lower_minmax(struct lower *L)
{
    static const struct float_row rows[] = {ROW(min), ROW(max)};
    static const struct float_row nan_rows[] = {
        {ALU_min_nan_f32, ALU_min_nan_f32_ftz, ALU_min_nan_f32_any, NO, NO, ALU_min_nan_f16,
         ALU_min_nan_bf16, ALU_min_nan_f16_any, ALU_min_nan_bf16_any, ALU_min_nan_f16x2,
         ALU_min_nan_bf16x2},
        {ALU_max_nan_f32, ALU_max_nan_f32_ftz, ALU_max_nan_f32_any, NO, NO, ALU_max_nan_f16,
         ALU_max_nan_bf16, ALU_max_nan_f16_any, ALU_max_nan_bf16_any, ALU_max_nan_f16x2,
         ALU_max_nan_bf16x2}};
    bool max = L->inst->op == PTX_OP_MAX;
    const struct float_row *row = L->inst->flags & PTX_F_NAN ? &nan_rows[max] : &rows[max];
    enum alu alu = choose(L, row, type(L));
    uint32_t a = src(L, 1), b = src(L, 2), d = dst(L);
    if (L->inst->flags & PTX_F_XORSIGN) {
        lower_xorsign(L, alu, d, a, b);
        return;
    }
    if (L->inst->nops > 3 && op(L, 3)->kind != PTX_OPND_NONE) {
        uint32_t t = lower_temp(L, lower_type_bits(type(L))), c = src(L, 3);
        finish(L, lower_alu2(L, alu, t, a, b));
        finish(L, lower_alu2(L, alu, d, t, c));
        return;
    }
    finish(L, lower_alu2(L, alu, d, a, b));
}

// Lowers sqrt, rcp and others. Each has a handler for the plain case, one with .ftz, which fast
// math generates, and one for all other cases.
static void unary(struct lower *L, const enum alu f32[3], enum alu f64)
{
    unsigned flags = flags_of(L->inst);
    unsigned way = !is_nearest(L->inst) ? 2 : !flags ? 0 : flags == INSN_FTZ ? 1 : 2;
    enum ptx_type t = type(L);
    if (t == PTX_T_F64 && f64 == NO)
        lower_fail(L, -ENOTSUP, "not for type f64");
    finish(L, lower_alu1(L, t == PTX_T_F64 && f64 != NO ? f64 : f32[way], dst(L), src(L, 1)));
}

#define UNARY(name)                                                                                \
    (const enum alu[3])                                                                            \
    {                                                                                              \
        ALU_##name##_f32, ALU_##name##_f32_ftz, ALU_##name##_f32_any                               \
    }

static void lower_narrow_unary(struct lower *L, const enum alu row[4])
{
    enum ptx_type t = type(L);
    unsigned i = t == PTX_T_F16 ? 0 : t == PTX_T_BF16 ? 1 : t == PTX_T_F16X2 ? 2 : 3;
    finish(L, lower_alu1(L, row[i], dst(L), src(L, 1)));
}

static bool is_narrow(enum ptx_type t)
{
    return t == PTX_T_F16 || t == PTX_T_BF16 || t == PTX_T_F16X2 || t == PTX_T_BF16X2;
}

static void lower_sign(struct lower *L)
{
    bool is_abs = L->inst->op == PTX_OP_ABS, ftz = L->inst->flags & PTX_F_FTZ;
    enum alu alu;
    switch (type(L)) {
    case PTX_T_F64:
        alu = is_abs ? ALU_abs_f64 : ALU_neg_f64;
        break;
    case PTX_T_F16:
        alu = is_abs ? ALU_abs_f16 : ALU_neg_f16;
        break;
    case PTX_T_BF16:
        alu = is_abs ? ALU_abs_bf16 : ALU_neg_bf16;
        break;
    case PTX_T_F16X2:
        alu = is_abs ? ALU_abs_f16x2 : ALU_neg_f16x2;
        break;
    case PTX_T_BF16X2:
        alu = is_abs ? ALU_abs_bf16x2 : ALU_neg_bf16x2;
        break;
    default:
        alu = ftz ? (is_abs ? ALU_abs_f32_ftz : ALU_neg_f32_ftz)
                  : (is_abs ? ALU_abs_f32 : ALU_neg_f32);
        break;
    }
    finish(L, lower_alu1(L, alu, dst(L), src(L, 1)));
}

static void lower_testp(struct lower *L)
{
    static const enum alu rows[][2] = {
        [PTX_MODE_FINITE - PTX_MODE_FINITE] = {ALU_testp_finite_f32, ALU_testp_finite_f64},
        [PTX_MODE_INFINITE - PTX_MODE_FINITE] = {ALU_testp_infinite_f32, ALU_testp_infinite_f64},
        [PTX_MODE_NUMBER - PTX_MODE_FINITE] = {ALU_testp_nan_f32, ALU_testp_nan_f64},
        [PTX_MODE_NOTANUMBER - PTX_MODE_FINITE] = {ALU_testp_nan_f32, ALU_testp_nan_f64},
        [PTX_MODE_NORMAL - PTX_MODE_FINITE] = {ALU_testp_normal_f32, ALU_testp_normal_f64},
        [PTX_MODE_SUBNORMAL - PTX_MODE_FINITE] = {ALU_testp_subnormal_f32, ALU_testp_subnormal_f64},
    };
    unsigned row = L->inst->mode - PTX_MODE_FINITE;
    if (row >= sizeof rows / sizeof rows[0]) {
        lower_fail(L, -ENOTSUP, "unknown test");
        return;
    }
    uint32_t a = src(L, 1), d = lower_dst_pred(L, op(L, 0));
    uint32_t p = L->inst->mode == PTX_MODE_NUMBER ? lower_temp(L, 1) : d;
    lower_alu2(L, rows[row][type(L) == PTX_T_F64], p, a, a);
    if (p != d)
        lower_alu1(L, ALU_pred_not, d, p);
}

bool lower_float(struct lower *L)
{
    static const enum alu ex2[] = {ALU_ex2_f16, ALU_ex2_bf16, ALU_ex2_f16x2, ALU_ex2_bf16x2};
    static const enum alu tanh[] = {ALU_tanh_f16, ALU_tanh_bf16, ALU_tanh_f16x2, ALU_tanh_bf16x2};
    bool approx = L->inst->flags & PTX_F_APPROX;
    switch (L->inst->op) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
        lower_add_sub_mul(L);
        return true;
    case PTX_OP_FMA:
    case PTX_OP_MAD:
        lower_fma(L);
        return true;
    case PTX_OP_DIV:
        lower_div(L);
        return true;
    case PTX_OP_MIN:
    case PTX_OP_MAX:
        lower_minmax(L);
        return true;
    case PTX_OP_ABS:
    case PTX_OP_NEG:
        lower_sign(L);
        return true;
    case PTX_OP_SQRT:
        unary(L, UNARY(sqrt), ALU_sqrt_f64);
        return true;
    case PTX_OP_RCP:
        unary(L, UNARY(rcp), approx ? ALU_rcp_approx_f64 : ALU_rcp_f64);
        return true;
    case PTX_OP_RSQRT:
        unary(L, UNARY(rsqrt), L->inst->flags & PTX_F_FTZ ? ALU_rsqrt_approx_f64 : ALU_rsqrt_f64);
        return true;
    case PTX_OP_SIN:
        unary(L, UNARY(sin), NO);
        return true;
    case PTX_OP_COS:
        unary(L, UNARY(cos), NO);
        return true;
    case PTX_OP_LG2:
        unary(L, UNARY(lg2), NO);
        return true;
    case PTX_OP_EX2:
        if (is_narrow(type(L)))
            lower_narrow_unary(L, ex2);
        else
            unary(L, UNARY(ex2), NO);
        return true;
    case PTX_OP_TANH:
        if (is_narrow(type(L)))
            lower_narrow_unary(L, tanh);
        else
            unary(L, UNARY(tanh), NO);
        return true;
    case PTX_OP_COPYSIGN: {
        uint32_t a = src(L, 1), b = src(L, 2);
        lower_alu2(L, type(L) == PTX_T_F64 ? ALU_copysign_f64 : ALU_copysign_f32, dst(L), a, b);
        return true;
    }
    case PTX_OP_TESTP:
        lower_testp(L);
        return true;
    default:
        return false;
    }
}

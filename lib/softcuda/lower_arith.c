// Integer arithmetic, logic, comparison and selection: from opcode, type and mode to a handler.
#include <errno.h>

#include "softcuda/lower.h"

// Columns of a type in the tables below.
enum { U16, S16, U32, S32, U64, S64, KINDS };
#define NOT_THERE ALU_COUNT

static int kind_of(enum ptx_type t)
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

static const struct ptx_operand *op(const struct lower *L, unsigned i)
{
    return &L->inst->ops[i];
}

static enum ptx_type type(const struct lower *L, unsigned i)
{
    return (enum ptx_type)L->inst->type[i];
}

static unsigned bits(const struct lower *L)
{
    return lower_type_bits(type(L, 0));
}

// The row's handler for the instruction's type; an error where there is none.
static enum alu pick(struct lower *L, const enum alu row[KINDS])
{
    int kind = kind_of(type(L, 0));
    if (kind >= 0 && row[kind] != NOT_THERE)
        return row[kind];
    lower_fail(L, -ENOTSUP, "not for type %s", ptx_type_name(type(L, 0)));
    return ALU_mov_b32;
}

static void binary(struct lower *L, enum alu alu)
{
    uint32_t a = lower_src_type(L, op(L, 1), type(L, 0));
    uint32_t b = lower_src_type(L, op(L, 2), type(L, 0));
    lower_alu2(L, alu, lower_dst(L, op(L, 0), bits(L)), a, b);
}

static void unary(struct lower *L, enum alu alu, unsigned result_bits)
{
    uint32_t a = lower_src_type(L, op(L, 1), type(L, 0));
    lower_alu1(L, alu, lower_dst(L, op(L, 0), result_bits), a);
}

// Signed 16-bit operands as 32-bit ones, for the operations that have no form of their own.
static uint32_t widen16(struct lower *L, uint32_t slot, bool is_signed)
{
    uint32_t t = lower_temp(L);
    lower_alu1(L, is_signed ? ALU_ext_s16 : ALU_ext_u16, t, slot);
    return t;
}

// Computes in 32 bits, then cuts back to 16.
static void by_widening(struct lower *L, enum alu alu, unsigned sources)
{
    bool is_signed = ptx_type_is_signed(type(L, 0));
    uint32_t s[3] = {0};
    for (unsigned i = 0; i < sources; i++)
        s[i] = widen16(L, lower_src_type(L, op(L, i + 1), type(L, 0)), is_signed);
    uint32_t t = lower_temp(L);
    lower_alu3(L, alu, t, s[0], s[1], s[2]);
    lower_alu1(L, ALU_ext_u16, lower_dst(L, op(L, 0), 32), t);
}

static bool is_integer(enum ptx_type t)
{
    return !ptx_type_is_float(t) && t != PTX_T_PRED;
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

// ---- Multiplication

static void lower_mul(struct lower *L)
{
    static const enum alu lo[KINDS] = {ALU_mul_b16, ALU_mul_b16, ALU_mul_b32,
                                       ALU_mul_b32, ALU_mul_b64, ALU_mul_b64};
    static const enum alu hi[KINDS] = {ALU_mul_hi_u16, ALU_mul_hi_s16, ALU_mul_hi_u32,
                                       ALU_mul_hi_s32, ALU_mul_hi_u64, ALU_mul_hi_s64};
    static const enum alu wide[KINDS] = {ALU_mul_wide_u16, ALU_mul_wide_s16, ALU_mul_wide_u32,
                                         ALU_mul_wide_s32, NOT_THERE,        NOT_THERE};
    if (L->inst->mode != PTX_MODE_WIDE) {
        binary(L, pick(L, L->inst->mode == PTX_MODE_HI ? hi : lo));
        return;
    }
    uint32_t a = lower_src_type(L, op(L, 1), type(L, 0));
    uint32_t b = lower_src_type(L, op(L, 2), type(L, 0));
    unsigned result = ptx_type_bits(type(L, 0)) == 16 ? 32 : 64;
    lower_alu2(L, pick(L, wide), lower_dst(L, op(L, 0), result), a, b);
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
    enum alu alu = pick(L, is_wide ? wide : L->inst->mode == PTX_MODE_HI ? hi : lo);
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
        binary(L, alu);
        return;
    }
    uint32_t t = lower_temp(L);
    lower_alu2(L, alu, t, lower_src(L, op(L, 1), 32), lower_src(L, op(L, 2), 32));
    lower_alu2(L, L->inst->flags & PTX_F_SAT ? ALU_add_sat_s32 : ALU_add_b32,
               lower_dst(L, op(L, 0), 32), t, lower_src(L, op(L, 3), 32));
}

// ---- Comparison

// Each comparison as one that has a handler: operands swapped, result complemented.
struct compare {
    uint8_t row;
    bool swap, negate;
};
enum { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_NUM };

static struct compare compare_of(enum ptx_cmp cmp, bool is_float)
{
    switch (cmp) {
    case PTX_CMP_EQ:
        return (struct compare){CMP_EQ, false, false};
    case PTX_CMP_NE:
        return (struct compare){CMP_NE, false, false};
    case PTX_CMP_LT:
    case PTX_CMP_LO:
        return (struct compare){CMP_LT, false, false};
    case PTX_CMP_LE:
    case PTX_CMP_LS:
        return (struct compare){CMP_LE, false, false};
    case PTX_CMP_GT:
    case PTX_CMP_HI:
        return (struct compare){CMP_LT, true, false};
    case PTX_CMP_GE:
    case PTX_CMP_HS:
        return (struct compare){CMP_LE, true, false};
    // true for a NaN: the complement of the opposite ordered one
    case PTX_CMP_EQU:
        return (struct compare){CMP_NE, false, is_float};
    case PTX_CMP_NEU:
        return (struct compare){CMP_EQ, false, true};
    case PTX_CMP_LTU:
        return (struct compare){CMP_LE, true, true};
    case PTX_CMP_LEU:
        return (struct compare){CMP_LT, true, true};
    case PTX_CMP_GTU:
        return (struct compare){CMP_LE, false, true};
    case PTX_CMP_GEU:
        return (struct compare){CMP_LT, false, true};
    case PTX_CMP_NAN:
        return (struct compare){CMP_NUM, false, true};
    default:
        return (struct compare){CMP_NUM, false, false};
    }
}

static enum alu compare_handler(struct lower *L, enum ptx_type t, enum ptx_cmp cmp, unsigned row)
{
    static const enum alu integer[KINDS][4] = {
        {ALU_setp_eq_b16, ALU_setp_ne_b16, ALU_setp_lt_u16, ALU_setp_le_u16},
        {ALU_setp_eq_b16, ALU_setp_ne_b16, ALU_setp_lt_s16, ALU_setp_le_s16},
        {ALU_setp_eq_b32, ALU_setp_ne_b32, ALU_setp_lt_u32, ALU_setp_le_u32},
        {ALU_setp_eq_b32, ALU_setp_ne_b32, ALU_setp_lt_s32, ALU_setp_le_s32},
        {ALU_setp_eq_b64, ALU_setp_ne_b64, ALU_setp_lt_u64, ALU_setp_le_u64},
        {ALU_setp_eq_b64, ALU_setp_ne_b64, ALU_setp_lt_s64, ALU_setp_le_s64},
    };
#define FLOAT_ROW(t)                                                                               \
    {                                                                                              \
        ALU_setp_eq_##t, ALU_setp_lg_##t, ALU_setp_lt_##t, ALU_setp_le_##t, ALU_setp_num_##t       \
    }
    static const enum alu floats[][5] = {FLOAT_ROW(f32), FLOAT_ROW(f32_ftz), FLOAT_ROW(f64),
                                         FLOAT_ROW(f16), FLOAT_ROW(bf16),    FLOAT_ROW(f16_ftz)};
#undef FLOAT_ROW
    bool ftz = L->inst->flags & PTX_F_FTZ;
    switch (t) {
    case PTX_T_F32:
        return floats[ftz][row];
    case PTX_T_F64:
        return floats[2][row];
    case PTX_T_F16:
        return floats[ftz ? 5 : 3][row];
    case PTX_T_BF16:
        return floats[4][row];
    default:
        break;
    }
    int kind = kind_of(t);
    if (kind < 0 || row > 3) {
        lower_fail(L, -ENOTSUP, "no comparison of type %s", ptx_type_name(t));
        return ALU_setp_eq_b32;
    }
    if (cmp >= PTX_CMP_LO && cmp <= PTX_CMP_HS) // unsigned by its name
        kind &= ~1;
    return integer[kind][row];
}

// p = a CMP b, for all lanes of the path, into a temporary or D.
static void emit_compare(struct lower *L, uint32_t d, enum ptx_type t, uint32_t a, uint32_t b)
{
    enum ptx_cmp cmp = (enum ptx_cmp)L->inst->cmp;
    struct compare c = compare_of(cmp, ptx_type_is_float(t));
    enum alu alu = compare_handler(L, t, cmp, c.row);
    if (!c.negate) {
        lower_alu2(L, alu, d, c.swap ? b : a, c.swap ? a : b);
        return;
    }
    uint32_t t1 = lower_temp(L);
    lower_alu2(L, alu, t1, c.swap ? b : a, c.swap ? a : b);
    lower_alu1(L, ALU_pred_not, d, t1);
}

static void emit_bool(struct lower *L, enum ptx_bop bop, uint32_t d, uint32_t a, uint32_t b)
{
    lower_alu2(L,
               bop == PTX_BOP_AND  ? ALU_pred_and
               : bop == PTX_BOP_OR ? ALU_pred_or
                                   : ALU_pred_xor,
               d, a, b);
}

static bool is_pair(enum ptx_type t)
{
    return t == PTX_T_F16X2 || t == PTX_T_BF16X2;
}

// The comparisons of a pair's lower and upper halves.
static void emit_compare_pair(struct lower *L, const uint32_t p[2], enum ptx_type t, uint32_t a,
                              uint32_t b)
{
    for (unsigned i = 0; i < 2; i++) {
        uint32_t ha = lower_temp(L), hb = lower_temp(L);
        lower_alu1(L, i ? ALU_high_b16 : ALU_ext_u16, ha, a);
        lower_alu1(L, i ? ALU_high_b16 : ALU_ext_u16, hb, b);
        emit_compare(L, p[i], t == PTX_T_F16X2 ? PTX_T_F16 : PTX_T_BF16, ha, hb);
    }
}

static void lower_setp(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    enum ptx_type t = type(L, 0);
    bool two = op(L, 1)->kind == PTX_OPND_REG;
    uint32_t a = lower_src_type(L, op(L, 2), t), b = lower_src_type(L, op(L, 3), t);
    uint32_t d = lower_dst_pred(L, op(L, 0));
    if (!two && !i->bop && !is_pair(t)) {
        emit_compare(L, d, t, a, b);
        return;
    }
    // the results may be the predicates that are read, the guard too: they are written last
    uint32_t p = lower_temp(L), q = lower_temp(L);
    if (is_pair(t)) {
        emit_compare_pair(L, (uint32_t[]){p, q}, t, a, b);
    } else {
        emit_compare(L, p, t, a, b);
        lower_alu1(L, ALU_pred_not, q, p);
    }
    if (i->bop) {
        uint32_t c = lower_pred(L, op(L, 4));
        emit_bool(L, (enum ptx_bop)i->bop, p, p, c);
        emit_bool(L, (enum ptx_bop)i->bop, q, q, c);
    }
    uint32_t guard = L->guard;
    if (two && guard != NO_GUARD) {
        uint32_t kept = lower_temp(L);
        lower_alu1(L, guard & 1 ? ALU_pred_not : ALU_pred_mov, kept, guard & ~1u)->guard = NO_GUARD;
        L->guard = kept;
    }
    lower_alu1(L, ALU_pred_mov, d, p);
    if (two)
        lower_alu1(L, ALU_pred_mov, lower_dst_pred(L, op(L, 1)), q);
    L->guard = guard;
}

// All ones or 1.0, by type; of a pair the lower half.
static uint32_t set_value(enum ptx_type t, bool halves)
{
    switch (t) {
    case PTX_T_F32:
        return 0x3f800000u;
    case PTX_T_F16:
    case PTX_T_F16X2:
        return 0x3c00u;
    case PTX_T_BF16:
    case PTX_T_BF16X2:
        return 0x3f80u;
    default:
        return halves || ptx_type_bits(t) == 16 ? 0xffffu : UINT32_MAX;
    }
}

static void lower_set(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    enum ptx_type t = type(L, 1), result = type(L, 0);
    bool halves = is_pair(t);
    uint32_t a = lower_src_type(L, op(L, 1), t), b = lower_src_type(L, op(L, 2), t);
    uint32_t p[2] = {lower_temp(L), halves ? lower_temp(L) : 0};
    if (is_pair(result) != halves && (!halves || ptx_type_bits(result) != 32)) {
        lower_fail(L, -ENOTSUP, "set of these types");
        return;
    }
    if (halves)
        emit_compare_pair(L, p, t, a, b);
    else
        emit_compare(L, p[0], t, a, b);
    if (i->bop)
        for (unsigned k = 0; k <= halves; k++)
            emit_bool(L, (enum ptx_bop)i->bop, p[k], p[k], lower_pred(L, op(L, 3)));
    uint32_t yes = set_value(result, halves), no = lower_const32(L, 0);
    uint32_t d = lower_dst(L, op(L, 0), 32), low = halves ? lower_temp(L) : d;
    lower_alu3(L, ALU_selp_b32, low, lower_const32(L, yes), no, p[0]);
    if (halves) {
        uint32_t high = lower_temp(L);
        lower_alu3(L, ALU_selp_b32, high, lower_const32(L, yes << 16), no, p[1]);
        lower_alu2(L, ALU_or_b32, d, low, high);
    }
}

static void lower_slct(struct lower *L)
{
    bool wide = bits(L) == 64, flush = L->inst->flags & PTX_F_FTZ;
    enum alu by_int = wide ? ALU_slct_s32_b64 : ALU_slct_s32_b32;
    enum alu by_float = wide ? (flush ? ALU_slct_f32_ftz_b64 : ALU_slct_f32_b64)
                             : (flush ? ALU_slct_f32_ftz_b32 : ALU_slct_f32_b32);
    uint32_t a = lower_src_type(L, op(L, 1), type(L, 0));
    uint32_t b = lower_src_type(L, op(L, 2), type(L, 0));
    uint32_t c = lower_src(L, op(L, 3), 32);
    lower_alu3(L, type(L, 1) == PTX_T_F32 ? by_float : by_int, lower_dst(L, op(L, 0), bits(L)), a,
               b, c);
}

// ---- Logic

static void lower_logic(struct lower *L)
{
    static const enum alu rows[3][3] = {
        {ALU_and_b32, ALU_and_b64, ALU_pred_and},
        {ALU_or_b32, ALU_or_b64, ALU_pred_or},
        {ALU_xor_b32, ALU_xor_b64, ALU_pred_xor},
    };
    unsigned row = L->inst->op == PTX_OP_AND ? 0 : L->inst->op == PTX_OP_OR ? 1 : 2;
    if (type(L, 0) == PTX_T_PRED) {
        uint32_t a = lower_pred(L, op(L, 1)), b = lower_pred(L, op(L, 2));
        lower_alu2(L, rows[row][2], lower_dst_pred(L, op(L, 0)), a, b);
        return;
    }
    binary(L, rows[row][bits(L) == 64]);
}

static void lower_not(struct lower *L)
{
    if (type(L, 0) == PTX_T_PRED)
        lower_alu1(L, ALU_pred_not, lower_dst_pred(L, op(L, 0)), lower_pred(L, op(L, 1)));
    else
        unary(L,
              bits(L) == 64                     ? ALU_not_b64
              : ptx_type_bits(type(L, 0)) == 16 ? ALU_not_b16
                                                : ALU_not_b32,
              bits(L));
}

static void lower_lop3(struct lower *L)
{
    bool with_pred = L->inst->bop != 0;
    unsigned first = with_pred ? 2 : 1;
    uint32_t s[3];
    for (unsigned i = 0; i < 3; i++)
        s[i] = lower_src(L, op(L, first + i), 32);
    uint64_t table = op(L, first + 3)->imm & 255;
    if (!with_pred) {
        lower_alu3(L, ALU_lop3_b32, lower_dst(L, op(L, 0), 32), s[0], s[1], s[2])->imm = table;
        return;
    }
    uint32_t t = lower_temp(L), p = lower_temp(L);
    lower_alu3(L, ALU_lop3_b32, t, s[0], s[1], s[2])->imm = table;
    lower_alu2(L, ALU_setp_ne_b32, p, t, lower_const32(L, 0));
    uint32_t q = lower_pred(L, op(L, 6));
    emit_bool(L, (enum ptx_bop)L->inst->bop, p, p, q);
    lower_alu1(L, ALU_mov_b32, lower_dst(L, op(L, 0), 32), t);
    lower_alu1(L, ALU_pred_mov, lower_dst_pred(L, op(L, 1)), p);
}

static void lower_shift(struct lower *L)
{
    static const enum alu left[KINDS] = {ALU_shl_b16, ALU_shl_b16, ALU_shl_b32,
                                         ALU_shl_b32, ALU_shl_b64, ALU_shl_b64};
    static const enum alu right[KINDS] = {ALU_shr_u16, ALU_shr_s16, ALU_shr_u32,
                                          ALU_shr_s32, ALU_shr_u64, ALU_shr_s64};
    uint32_t a = lower_src_type(L, op(L, 1), type(L, 0)), b = lower_src(L, op(L, 2), 32);
    lower_alu2(L, pick(L, L->inst->op == PTX_OP_SHL ? left : right),
               lower_dst(L, op(L, 0), bits(L)), a, b);
}

static void lower_shf(struct lower *L)
{
    bool left = L->inst->mode == PTX_MODE_LEFT, wrap = L->inst->mode2 == PTX_MODE_WRAP;
    // clamped: an amount above 31 counts as 32
    enum alu alu = left ? (wrap ? ALU_shf_l_wrap : ALU_shf_l_clamp)
                        : (wrap ? ALU_shf_r_wrap : ALU_shf_r_clamp);
    uint32_t a = lower_src(L, op(L, 1), 32), b = lower_src(L, op(L, 2), 32);
    lower_alu3(L, alu, lower_dst(L, op(L, 0), 32), a, b, lower_src(L, op(L, 3), 32));
}

// prmt's modes as selectors, by the two low bits of c.
static void lower_prmt(struct lower *L)
{
    static const uint16_t selectors[][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
        {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
        {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232},
    };
    const struct ptx_operand *c = op(L, 3);
    uint32_t a = lower_src(L, op(L, 1), 32), b = lower_src(L, op(L, 2), 32);
    uint32_t d = lower_dst(L, op(L, 0), 32);
    if (!L->inst->mode && c->kind == PTX_OPND_IMM) {
        lower_alu2(L, ALU_prmt_const, d, a, b)->imm = c->imm;
        return;
    }
    if (!L->inst->mode) {
        lower_alu3(L, ALU_prmt, d, a, b, lower_src(L, c, 32));
        return;
    }
    const uint16_t *row = selectors[L->inst->mode - PTX_MODE_F4E];
    if (c->kind == PTX_OPND_IMM) {
        lower_alu2(L, ALU_prmt_const, d, a, b)->imm = row[c->imm & 3];
        return;
    }
    // the selector is looked up in a 64-bit word of four
    uint64_t packed =
        row[0] | (uint64_t)row[1] << 16 | (uint64_t)row[2] << 32 | (uint64_t)row[3] << 48;
    uint32_t shift = lower_temp(L), wide = lower_temp(L), low = lower_temp(L);
    lower_alu2(L, ALU_and_b32, shift, lower_src(L, c, 32), lower_const32(L, 3));
    lower_alu2(L, ALU_shl_b32, shift, shift, lower_const32(L, 4));
    lower_alu2(L, ALU_shr_u64, wide, lower_const64(L, packed), shift);
    lower_alu1(L, ALU_low_b32, low, wide);
    lower_alu3(L, ALU_prmt, d, a, b, low);
}

// ---- Bit counting and fields

static void lower_bfe(struct lower *L)
{
    static const enum alu row[KINDS] = {NOT_THERE,   NOT_THERE,   ALU_bfe_u32,
                                        ALU_bfe_s32, ALU_bfe_u64, ALU_bfe_s64};
    uint32_t a = lower_src(L, op(L, 1), bits(L)), b = lower_src(L, op(L, 2), 32);
    lower_alu3(L, pick(L, row), lower_dst(L, op(L, 0), bits(L)), a, b, lower_src(L, op(L, 3), 32));
}

static void lower_bfi(struct lower *L)
{
    unsigned w = bits(L);
    uint32_t s[4] = {lower_src(L, op(L, 1), w), lower_src(L, op(L, 2), w),
                     lower_src(L, op(L, 3), 32), lower_src(L, op(L, 4), 32)};
    struct insn *in = lower_emit(L, w == 64 ? op_bfi_b64 : op_bfi_b32);
    in->d = lower_dst(L, op(L, 0), w);
    in->a = s[0];
    in->b = s[1];
    in->c = s[2];
    in->target = s[3];
}

static void lower_bfind(struct lower *L)
{
    static const enum alu row[KINDS] = {NOT_THERE,     NOT_THERE,     ALU_bfind_u32,
                                        ALU_bfind_s32, ALU_bfind_u64, ALU_bfind_s64};
    if (!(L->inst->flags & PTX_F_SHIFTAMT)) {
        unary(L, pick(L, row), 32);
        return;
    }
    uint32_t t = lower_temp(L);
    lower_alu1(L, pick(L, row), t, lower_src(L, op(L, 1), bits(L)));
    lower_alu1(L, bits(L) == 64 ? ALU_shiftamt_b64 : ALU_shiftamt_b32, lower_dst(L, op(L, 0), 32),
               t);
}

static void lower_mask(struct lower *L)
{
    bool wrap = L->inst->mode == PTX_MODE_WRAP, is_signed = ptx_type_is_signed(type(L, 0));
    uint32_t a = lower_src(L, op(L, 1), 32), b = lower_src(L, op(L, 2), 32);
    uint32_t d = lower_dst(L, op(L, 0), 32);
    if (L->inst->op == PTX_OP_BMSK)
        lower_alu2(L, wrap ? ALU_bmsk_wrap : ALU_bmsk_clamp, d, a, b);
    else
        lower_alu2(L, is_signed ? ALU_szext_s32 : ALU_szext_u32, d, a, b)->imm = wrap;
}

static void ternary32(struct lower *L, enum alu alu, uint64_t imm, uint16_t flags)
{
    uint32_t s[3];
    for (unsigned i = 0; i < 3; i++)
        s[i] = lower_src(L, op(L, i + 1), 32);
    struct insn *in = lower_alu3(L, alu, lower_dst(L, op(L, 0), 32), s[0], s[1], s[2]);
    in->imm = imm;
    in->flags = flags;
}

static void lower_dp4a(struct lower *L)
{
    bool a = ptx_type_is_signed(type(L, 0)), b = ptx_type_is_signed(type(L, 1));
    if (!a && b) { // the products commute: the unsigned operand goes second
        uint32_t s[3];
        for (unsigned i = 0; i < 3; i++)
            s[i] = lower_src(L, op(L, i + 1), 32);
        lower_alu3(L, ALU_dp4a_su, lower_dst(L, op(L, 0), 32), s[1], s[0], s[2]);
        return;
    }
    ternary32(L, a ? (b ? ALU_dp4a_ss : ALU_dp4a_su) : ALU_dp4a_uu, 0, 0);
}

// ---- Minimum and maximum

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
        binary(L, alu);
        relu = ALU_relu_s16x2;
    } else if (ptx_type_bits(t) == 16) {
        by_widening(L,
                    ptx_type_is_signed(t) ? (min ? ALU_min_s32 : ALU_max_s32)
                                          : (min ? ALU_min_u32 : ALU_max_u32),
                    2);
    } else {
        binary(L, pick(L, min ? least : most));
        relu = ALU_relu_s32;
    }
    if (L->inst->flags & PTX_F_RELU && relu != ALU_COUNT) {
        uint32_t d = lower_dst(L, op(L, 0), 32);
        lower_alu1(L, relu, d, d);
    }
}

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
        binary(L, pick(L, is_div ? div : rem));
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
    lower_alu3(L, pick(L, row), lower_dst(L, op(L, 0), bits(L)), s[0], s[1], s[2]);
}

static void lower_abs_neg(struct lower *L)
{
    bool wide = bits(L) == 64, is_abs = L->inst->op == PTX_OP_ABS;
    if (ptx_type_bits(type(L, 0)) == 16)
        by_widening(L, is_abs ? ALU_abs_s32 : ALU_neg_b32, 1);
    else
        unary(L, is_abs ? (wide ? ALU_abs_s64 : ALU_abs_s32) : (wide ? ALU_neg_b64 : ALU_neg_b32),
              bits(L));
}

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
        binary(L, is_add ? ALU_add_sat_s32 : ALU_sub_sat_s32);
    else if (type(L, 0) == PTX_T_U16X2 || type(L, 0) == PTX_T_S16X2)
        binary(L, is_add ? ALU_add_b16x2 : ALU_sub_b16x2);
    else
        binary(L, pick(L, is_add ? add : sub));
}

bool lower_arith(struct lower *L)
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
    case PTX_OP_POPC:
        unary(L, bits(L) == 64 ? ALU_popc_b64 : ALU_popc_b32, 32);
        return true;
    case PTX_OP_CLZ:
        unary(L, bits(L) == 64 ? ALU_clz_b64 : ALU_clz_b32, 32);
        return true;
    case PTX_OP_BREV:
        unary(L, bits(L) == 64 ? ALU_brev_b64 : ALU_brev_b32, bits(L));
        return true;
    case PTX_OP_BFIND:
        lower_bfind(L);
        return true;
    case PTX_OP_FNS:
        ternary32(L, ALU_fns_b32, 0, 0);
        return true;
    case PTX_OP_BFE:
        lower_bfe(L);
        return true;
    case PTX_OP_BFI:
        lower_bfi(L);
        return true;
    case PTX_OP_BMSK:
    case PTX_OP_SZEXT:
        lower_mask(L);
        return true;
    case PTX_OP_DP4A:
        lower_dp4a(L);
        return true;
    case PTX_OP_DP2A:
        ternary32(L, ALU_dp2a, i->mode == PTX_MODE_HI ? 16 : 0,
                  (ptx_type_is_signed(type(L, 0)) ? 1 : 0) |
                      (ptx_type_is_signed(type(L, 1)) ? 2 : 0));
        return true;
    case PTX_OP_SETP:
        lower_setp(L);
        return true;
    case PTX_OP_SET:
        lower_set(L);
        return true;
    case PTX_OP_SELP: {
        uint32_t a = lower_src_type(L, op(L, 1), type(L, 0));
        uint32_t b = lower_src_type(L, op(L, 2), type(L, 0));
        lower_alu3(L, bits(L) == 64 ? ALU_selp_b64 : ALU_selp_b32, lower_dst(L, op(L, 0), bits(L)),
                   a, b, lower_pred(L, op(L, 3)));
        return true;
    }
    case PTX_OP_SLCT:
        lower_slct(L);
        return true;
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
        lower_logic(L);
        return true;
    case PTX_OP_NOT:
        lower_not(L);
        return true;
    case PTX_OP_CNOT:
        unary(L, bits(L) == 64 ? ALU_cnot_b64 : ALU_cnot_b32, bits(L));
        return true;
    case PTX_OP_LOP3:
        lower_lop3(L);
        return true;
    case PTX_OP_SHL:
    case PTX_OP_SHR:
        lower_shift(L);
        return true;
    case PTX_OP_SHF:
        lower_shf(L);
        return true;
    case PTX_OP_PRMT:
        lower_prmt(L);
        return true;
    default:
        return false;
    }
}

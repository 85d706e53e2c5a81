// Comparisons and selections: setp, set, selp, slct.
#include <errno.h>

#include "softcuda/lower/typed.h"

// Expresses a comparison by one that has a handler: operands swapped, result complemented.
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
    int kind = lower_kind(t);
    if (kind < 0 || row > 3) {
        lower_fail(L, -ENOTSUP, "no comparison of type %s", ptx_type_name(t));
        return ALU_setp_eq_b32;
    }
    if (cmp >= PTX_CMP_LO && cmp <= PTX_CMP_HS) // unsigned by its name
        kind &= ~1;
    return integer[kind][row];
}

// Emits p = a CMP b, for all lanes of the path, to a temporary or to D.
static void emit_compare(struct lower *L, uint32_t d, enum ptx_type t, uint32_t a, uint32_t b)
{
    enum ptx_cmp cmp = (enum ptx_cmp)L->inst->cmp;
    struct compare c = compare_of(cmp, ptx_type_is_float(t));
    enum alu alu = compare_handler(L, t, cmp, c.row);
    if (!c.negate) {
        lower_alu2(L, alu, d, c.swap ? b : a, c.swap ? a : b);
        return;
    }
    uint32_t t1 = lower_temp(L, 1);
    lower_alu2(L, alu, t1, c.swap ? b : a, c.swap ? a : b);
    lower_alu1(L, ALU_pred_not, d, t1);
}

void lower_bool(struct lower *L, enum ptx_bop bop, uint32_t d, uint32_t a, uint32_t b)
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

// Emits the comparisons of a pair's lower and upper halves.
static void emit_compare_pair(struct lower *L, const uint32_t p[2], enum ptx_type t, uint32_t a,
                              uint32_t b)
{
    for (unsigned i = 0; i < 2; i++) {
        uint32_t ha = lower_temp(L, 32), hb = lower_temp(L, 32);
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
    // results are written last, since they may be predicates that are read, such as the guard
    uint32_t p = lower_temp(L, 1), q = lower_temp(L, 1);
    if (is_pair(t)) {
        emit_compare_pair(L, (uint32_t[]){p, q}, t, a, b);
    } else {
        emit_compare(L, p, t, a, b);
        lower_alu1(L, ALU_pred_not, q, p);
    }
    if (i->bop) {
        uint32_t c = lower_pred(L, op(L, 4));
        lower_bool(L, (enum ptx_bop)i->bop, p, p, c);
        lower_bool(L, (enum ptx_bop)i->bop, q, q, c);
    }
    uint32_t guard = L->guard;
    if (two && guard != NO_GUARD) {
        uint32_t kept = lower_temp(L, 1);
        lower_alu1(L, guard & 1 ? ALU_pred_not : ALU_pred_mov, kept, guard & ~1u)->guard = NO_GUARD;
        L->guard = kept;
    }
    lower_alu1(L, ALU_pred_mov, d, p);
    if (two)
        lower_alu1(L, ALU_pred_mov, lower_dst_pred(L, op(L, 1)), q);
    L->guard = guard;
}

// Returns the value for true: all ones or 1.0, by type; for a pair, that of the lower half.
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
    uint32_t p[2] = {lower_temp(L, 1), halves ? lower_temp(L, 1) : 0};
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
            lower_bool(L, (enum ptx_bop)i->bop, p[k], p[k], lower_pred(L, op(L, 3)));
    uint32_t yes = set_value(result, halves), no = lower_const32(L, 0);
    uint32_t d = lower_dst(L, op(L, 0), 32), low = halves ? lower_temp(L, 32) : d;
    lower_alu3(L, ALU_selp_b32, low, lower_const32(L, yes), no, p[0]);
    if (halves) {
        uint32_t high = lower_temp(L, 32);
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

bool lower_compare(struct lower *L)
{
    switch (L->inst->op) {
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
    default:
        return false;
    }
}

// Logic, shifts, and instructions that count, move or extract bits.
#include <errno.h>

#include "softcuda/lower/typed.h"

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
    lower_binary(L, rows[row][bits(L) == 64]);
}

static void lower_not(struct lower *L)
{
    if (type(L, 0) == PTX_T_PRED)
        lower_alu1(L, ALU_pred_not, lower_dst_pred(L, op(L, 0)), lower_pred(L, op(L, 1)));
    else
        lower_unary(L,
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
    uint32_t t = lower_temp(L, 32), p = lower_temp(L, 1);
    lower_alu3(L, ALU_lop3_b32, t, s[0], s[1], s[2])->imm = table;
    lower_alu2(L, ALU_setp_ne_b32, p, t, lower_const32(L, 0));
    uint32_t q = lower_pred(L, op(L, 6));
    lower_bool(L, (enum ptx_bop)L->inst->bop, p, p, q);
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
    lower_alu2(L, lower_pick(L, L->inst->op == PTX_OP_SHL ? left : right),
               lower_dst(L, op(L, 0), bits(L)), a, b);
}

static void lower_shf(struct lower *L)
{
    bool left = L->inst->mode == PTX_MODE_LEFT, wrap = L->inst->mode2 == PTX_MODE_WRAP;
    // a clamped amount above 31 counts as 32
    enum alu alu = left ? (wrap ? ALU_shf_l_wrap : ALU_shf_l_clamp)
                        : (wrap ? ALU_shf_r_wrap : ALU_shf_r_clamp);
    uint32_t a = lower_src(L, op(L, 1), 32), b = lower_src(L, op(L, 2), 32);
    lower_alu3(L, alu, lower_dst(L, op(L, 0), 32), a, b, lower_src(L, op(L, 3), 32));
}

// Lowers prmt: the modes are turned into selectors, by the two low bits of c.
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
    uint32_t shift = lower_temp(L, 32), wide = lower_temp(L, 64), low = lower_temp(L, 32);
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
    lower_alu3(L, lower_pick(L, row), lower_dst(L, op(L, 0), bits(L)), a, b,
               lower_src(L, op(L, 3), 32));
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
        lower_unary(L, lower_pick(L, row), 32);
        return;
    }
    uint32_t t = lower_temp(L, 32);
    lower_alu1(L, lower_pick(L, row), t, lower_src(L, op(L, 1), bits(L)));
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

bool lower_bits(struct lower *L)
{
    switch (L->inst->op) {
    case PTX_OP_POPC:
        lower_unary(L, bits(L) == 64 ? ALU_popc_b64 : ALU_popc_b32, 32);
        return true;
    case PTX_OP_CLZ:
        lower_unary(L, bits(L) == 64 ? ALU_clz_b64 : ALU_clz_b32, 32);
        return true;
    case PTX_OP_BREV:
        lower_unary(L, bits(L) == 64 ? ALU_brev_b64 : ALU_brev_b32, bits(L));
        return true;
    case PTX_OP_BFIND:
        lower_bfind(L);
        return true;
    case PTX_OP_FNS:
        lower_ternary32(L, ALU_fns_b32, 0, 0);
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
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
        lower_logic(L);
        return true;
    case PTX_OP_NOT:
        lower_not(L);
        return true;
    case PTX_OP_CNOT:
        lower_unary(L, bits(L) == 64 ? ALU_cnot_b64 : ALU_cnot_b32, bits(L));
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

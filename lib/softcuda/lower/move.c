// mov with its packing and unpacking, and cvta.
#include <errno.h>

#include "softcuda/lower/lower.h"

static const struct ptx_operand *op(const struct lower *L, unsigned i)
{
    return &L->inst->ops[i];
}

static enum alu move_of(unsigned bits)
{
    return bits == 64 ? ALU_mov_b64 : ALU_mov_b32;
}

// ---- mov

// Packs {a, b, ...} into one wider value, least significant first.
static void lower_pack(struct lower *L, uint32_t d, unsigned bits, const struct ptx_operand *v)
{
    unsigned each = bits / (v->count ? v->count : 1);
    if (bits == 128 && v->count == 2) {
        uint32_t a = lower_src(L, &v->list[0], 64), b = lower_src(L, &v->list[1], 64);
        lower_alu1(L, ALU_mov_b64, d, a);
        lower_alu1(L, ALU_mov_b64, d + LANES * 8, b);
    } else if (bits == 64 && each == 32) {
        uint32_t a = lower_src(L, &v->list[0], 32), b = lower_src(L, &v->list[1], 32);
        lower_alu2(L, ALU_pack_b64_b32, d, a, b);
    } else if (bits == 64 && each == 16 && v->count == 4) {
        uint32_t s[4], low = lower_temp(L, 32), high = lower_temp(L, 32);
        for (unsigned i = 0; i < 4; i++)
            s[i] = lower_src(L, &v->list[i], 32);
        lower_alu2(L, ALU_pack_b32_b16, low, s[0], s[1]);
        lower_alu2(L, ALU_pack_b32_b16, high, s[2], s[3]);
        lower_alu2(L, ALU_pack_b64_b32, d, low, high);
    } else if (bits == 32 && each == 16) {
        uint32_t a = lower_src(L, &v->list[0], 32), b = lower_src(L, &v->list[1], 32);
        lower_alu2(L, ALU_pack_b32_b16, d, a, b);
    } else if (bits == 32 && each == 8 && v->count == 4) {
        uint32_t s[4], low = lower_temp(L, 32), high = lower_temp(L, 32);
        for (unsigned i = 0; i < 4; i++)
            s[i] = lower_src(L, &v->list[i], 32);
        lower_alu2(L, ALU_pack_b16_b8, low, s[0], s[1]);
        lower_alu2(L, ALU_pack_b16_b8, high, s[2], s[3]);
        lower_alu2(L, ALU_pack_b32_b16, d, low, high);
    } else {
        lower_fail(L, -ENOTSUP, "packing %u values into %u bits", v->count, bits);
    }
}

static void lower_unpack(struct lower *L, const struct ptx_operand *v, uint32_t a, unsigned bits)
{
    unsigned each = bits / (v->count ? v->count : 1);
    uint32_t t = lower_temp(L, bits == 128 ? 64 : 32); // a source may also be one of the results
    if (bits == 128 && v->count == 2) {
        uint32_t t2 = lower_temp(L, 64);
        lower_alu1(L, ALU_mov_b64, t, a);
        lower_alu1(L, ALU_mov_b64, t2, a + LANES * 8);
        lower_alu1(L, ALU_mov_b64, lower_dst(L, &v->list[0], 64), t);
        lower_alu1(L, ALU_mov_b64, lower_dst(L, &v->list[1], 64), t2);
    } else if (bits == 64 && each == 32) {
        lower_alu1(L, ALU_low_b32, lower_dst(L, &v->list[0], 32), a);
        lower_alu1(L, ALU_high_b32, lower_dst(L, &v->list[1], 32), a);
    } else if (bits == 64 && each == 16 && v->count == 4) {
        for (unsigned i = 0; i < 2; i++) {
            lower_alu1(L, i ? ALU_high_b32 : ALU_low_b32, t, a);
            lower_alu1(L, ALU_ext_u16, lower_dst(L, &v->list[2 * i], 32), t);
            lower_alu1(L, ALU_high_b16, lower_dst(L, &v->list[2 * i + 1], 32), t);
        }
    } else if (bits == 32 && each == 16) {
        lower_alu1(L, ALU_mov_b32, t, a);
        lower_alu1(L, ALU_ext_u16, lower_dst(L, &v->list[0], 32), t);
        lower_alu1(L, ALU_high_b16, lower_dst(L, &v->list[1], 32), t);
    } else if (bits == 32 && each == 8 && v->count == 4) {
        lower_alu1(L, ALU_mov_b32, t, a);
        for (unsigned i = 0; i < 4; i++) {
            uint32_t d = lower_dst(L, &v->list[i], 32), s = lower_temp(L, 32);
            lower_alu2(L, ALU_shr_u32, s, t, lower_const32(L, 8 * i));
            lower_alu1(L, ALU_ext_u8, d, s);
        }
    } else {
        lower_fail(L, -ENOTSUP, "unpacking %u bits into %u values", bits, v->count);
    }
}

static void lower_mov(struct lower *L)
{
    const struct ptx_operand *d = op(L, 0), *a = op(L, 1);
    enum ptx_type t = (enum ptx_type)L->inst->type[0];
    unsigned bits = lower_type_bits(t);
    if (t == PTX_T_PRED) {
        if (a->kind == PTX_OPND_SREG) // %is_explicit_cluster
            lower_emit(L, op_is_explicit_cluster)->d = lower_dst_pred(L, d);
        else
            lower_alu1(L, ALU_pred_mov, lower_dst_pred(L, d), lower_pred(L, a));
    } else if (d->kind == PTX_OPND_VEC) {
        lower_unpack(L, d,
                     bits == 128 && a->kind == PTX_OPND_REG && lower_opnd_bits(L, a) == 128
                         ? L->slot[a->reg]
                         : lower_src(L, a, bits),
                     bits);
    } else if (a->kind == PTX_OPND_VEC) {
        lower_pack(L, lower_dst(L, d, bits), bits, a);
    } else if (bits == 128) {
        uint32_t to = lower_dst(L, d, 128), from = lower_src(L, a, 128);
        lower_alu1(L, ALU_mov_b64, to, from);
        lower_alu1(L, ALU_mov_b64, to + LANES * 8, from + LANES * 8);
    } else {
        uint32_t from = lower_src_type(L, a, t);
        lower_alu1(L, move_of(bits), lower_dst(L, d, bits), from);
    }
}

// ---- cvta

static void lower_cvta(struct lower *L)
{
    unsigned bits = lower_type_bits((enum ptx_type)L->inst->type[0]);
    uint32_t a = lower_src(L, op(L, 1), bits), d = lower_dst(L, op(L, 0), bits);
    uint64_t window = 0;
    switch (L->inst->space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        window = MEM_SHARED_WINDOW;
        break;
    case PTX_SPACE_LOCAL:
        window = MEM_LOCAL_WINDOW;
        break;
    case PTX_SPACE_PARAM:
    case PTX_SPACE_PARAM_ENTRY:
        window = MEM_PARAM_WINDOW;
        break;
    default: // global and const addresses are generic ones
        break;
    }
    if (!window)
        lower_alu1(L, move_of(bits), d, a);
    else if (bits != 64)
        lower_fail(L, -ENOTSUP, "generic addresses have 64 bits");
    else
        lower_alu2(L, L->inst->flags & PTX_F_TO ? ALU_sub_b64 : ALU_add_b64, d, a,
                   lower_const64(L, window));
}

bool lower_move(struct lower *L)
{
    switch (L->inst->op) {
    case PTX_OP_MOV:
        lower_mov(L);
        return true;
    case PTX_OP_CVTA:
        lower_cvta(L);
        return true;
    default:
        return false;
    }
}

// Video instructions: sums, differences, comparisons of bytes and half words, alone or two and four
// at a time, with saturation and a second operation on the result.
#include "softcuda/device/num.h"
#include "softcuda/interp/interp.h"

// What one of them does, at any width.
enum kind { ADD, SUB, ABSDIFF, MIN, MAX, AVRG, SHL, SHR, MAD, SET };

static enum kind kind_of(uint16_t op)
{
    switch (op) {
    case PTX_OP_VADD:
    case PTX_OP_VADD2:
    case PTX_OP_VADD4:
        return ADD;
    case PTX_OP_VSUB:
    case PTX_OP_VSUB2:
    case PTX_OP_VSUB4:
        return SUB;
    case PTX_OP_VABSDIFF:
    case PTX_OP_VABSDIFF2:
    case PTX_OP_VABSDIFF4:
        return ABSDIFF;
    case PTX_OP_VMIN:
    case PTX_OP_VMIN2:
    case PTX_OP_VMIN4:
        return MIN;
    case PTX_OP_VMAX:
    case PTX_OP_VMAX2:
    case PTX_OP_VMAX4:
        return MAX;
    case PTX_OP_VAVRG2:
    case PTX_OP_VAVRG4:
        return AVRG;
    case PTX_OP_VSHL:
        return SHL;
    case PTX_OP_VSHR:
        return SHR;
    case PTX_OP_VMAD:
        return MAD;
    default:
        return SET;
    }
}

static unsigned parts_of(uint16_t op)
{
    return op >= PTX_OP_VADD4 ? 4 : op >= PTX_OP_VADD2 ? 2 : 1;
}

// Returns BITS of X from SHIFT on, extended.
static int64_t extract(uint32_t x, unsigned shift, unsigned bits, bool is_signed)
{
    uint32_t field = bits == 32 ? x : x >> shift & ((1u << bits) - 1);
    return is_signed ? (int64_t)(int32_t)(field << (32 - bits)) >> (32 - bits) : (int64_t)field;
}

static void selected(uint8_t sel, unsigned *shift, unsigned *bits)
{
    *shift = 0;
    *bits = 32;
    if (sel >= PTX_SEL_B0 && sel <= PTX_SEL_B3) {
        *shift = 8u * (sel - PTX_SEL_B0);
        *bits = 8;
    } else if (sel == PTX_SEL_H0 || sel == PTX_SEL_H1) {
        *shift = sel == PTX_SEL_H1 ? 16 : 0;
        *bits = 16;
    }
}

static bool compares(uint8_t cmp, int64_t a, int64_t b)
{
    switch (cmp) {
    case PTX_CMP_EQ:
        return a == b;
    case PTX_CMP_NE:
        return a != b;
    case PTX_CMP_LT:
    case PTX_CMP_LO:
        return a < b;
    case PTX_CMP_LE:
    case PTX_CMP_LS:
        return a <= b;
    case PTX_CMP_GT:
    case PTX_CMP_HI:
        return a > b;
    default:
        return a >= b;
    }
}

static int64_t shifted(const struct ptx_inst *i, int64_t a, int64_t b, bool left)
{
    uint64_t n = (uint64_t)b & UINT32_MAX;
    bool wrap = i->mode2 == PTX_MODE_WRAP || i->mode == PTX_MODE_WRAP;
    n = wrap ? n & 31 : n > 32 ? 32 : n;
    return left ? (int64_t)((uint64_t)a << n) : a >> n;
}

// vmad is signed on a GPU, but for what saturates a shifted result.
static int64_t sum_of_product(const struct ptx_inst *i, int64_t a, int64_t b, int64_t c)
{
    int64_t p = (int64_t)(int32_t)a * (int32_t)b;
    unsigned shift = i->mode == PTX_MODE_SHR7 ? 7 : i->mode == PTX_MODE_SHR15 ? 15 : 0;
    p = (i->flags & (PTX_F_NEG_A | PTX_F_NEG_B)) ? -p : p;
    c = (int32_t)c;
    p += (i->flags & PTX_F_NEG_C ? -c : c) + (i->flags & PTX_F_PO ? 1 : 0);
    if (shift && i->flags & PTX_F_SAT && !ptx_type_is_signed((enum ptx_type)i->type[0]))
        return (int64_t)((uint64_t)p >> shift);
    return p >> shift;
}

static int64_t combine(const struct ptx_inst *i, enum kind kind, int64_t a, int64_t b, int64_t c)
{
    switch (kind) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case ABSDIFF:
        return a > b ? a - b : b - a;
    case MIN:
        return a < b ? a : b;
    case MAX:
        return a > b ? a : b;
    case AVRG:
        return (a + b + (a + b >= 0)) >> 1;
    case SHL:
    case SHR:
        return shifted(i, a, b, kind == SHL);
    case MAD:
        return sum_of_product(i, a, b, c);
    default:
        return compares(i->cmp, a, b);
    }
}

static int64_t saturate(int64_t x, unsigned bits, bool is_signed)
{
    int64_t least = is_signed ? -(1ll << (bits - 1)) : 0;
    int64_t most = is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1;
    return x < least ? least : x > most ? most : x;
}

static uint32_t scalar(const struct ptx_inst *i, uint32_t a, uint32_t b, uint32_t c)
{
    enum kind kind = kind_of(i->op);
    bool set = kind == SET;
    // vset names the types of a and b only
    bool sd = !set && ptx_type_is_signed((enum ptx_type)i->type[0]);
    bool sa = ptx_type_is_signed((enum ptx_type)i->type[set ? 0 : 1]);
    bool sb = ptx_type_is_signed((enum ptx_type)i->type[set ? 1 : 2]);
    unsigned shift, bits, to, width;
    selected(i->sel[1], &shift, &bits);
    int64_t x = extract(a, shift, bits, sa);
    selected(i->sel[2], &shift, &bits);
    int64_t y = extract(b, shift, bits, sb);
    selected(i->sel[0], &to, &width);
    int64_t z = extract(c, 0, 32, sd), r = combine(i, kind, x, y, z);
    // a sum past the top of u32 wraps on the device, also with .sat
    bool wraps = kind == ADD && width == 32 && !sd && r > (int64_t)UINT32_MAX;
    bool sat = i->flags & PTX_F_SAT;
    if (width < 32) { // A saturated result is moved to its bits of c; any other result keeps
                      // the bits that it has there.
        uint32_t kept = ((1u << width) - 1) << to;
        if (sat && sd && r < 0) // a GPU treats a negative sum so
            r = INT32_MAX;
        return (c & ~kept) | ((sat ? (uint32_t)saturate(r, width, sd) << to : (uint32_t)r) & kept);
    }
    if (sat && !wraps)
        r = saturate(r, width, sd);
    if (kind == ADD || kind == SUB) // the second operation sees a word
        r = sd ? (int64_t)(int32_t)r : (int64_t)(uint32_t)r;
    switch (i->mode) {
    case PTX_MODE_VADD:
        return (uint32_t)(r + z);
    case PTX_MODE_VMIN:
        return (uint32_t)(r < z ? r : z);
    case PTX_MODE_VMAX:
        return (uint32_t)(r > z ? r : z);
    default:
        return (uint32_t)r;
    }
}

// Part P of a source: its selector names one of both sources' parts, a's below b's.
static int64_t part_of(uint32_t a, uint32_t b, uint16_t sel, unsigned p, unsigned other,
                       unsigned bits, bool is_signed)
{
    unsigned which = sel ? sel >> (3 * p) & 7 : p + other;
    return extract((uint32_t)(((uint64_t)b << 32 | a) >> (which * bits & 63)), 0, bits, is_signed);
}

// The parts of the destination that are written; the others are c's.
static unsigned written_parts(uint16_t sel, unsigned parts)
{
    if (sel & PTX_SEL_MASK)
        return sel & 15;
    if (sel >= PTX_SEL_B0 && sel <= PTX_SEL_B3)
        return 1u << (sel - PTX_SEL_B0);
    if (sel == PTX_SEL_H0 || sel == PTX_SEL_H1)
        return 1u << (sel - PTX_SEL_H0);
    return (1u << parts) - 1;
}

static uint32_t simd(const struct ptx_inst *i, unsigned parts, uint32_t a, uint32_t b, uint32_t c)
{
    enum kind kind = kind_of(i->op);
    bool set = kind == SET;
    bool sd = !set && ptx_type_is_signed((enum ptx_type)i->type[0]);
    bool sa = ptx_type_is_signed((enum ptx_type)i->type[set ? 0 : 1]);
    bool sb = ptx_type_is_signed((enum ptx_type)i->type[set ? 1 : 2]);
    unsigned bits = 32 / parts, written = written_parts(i->sel[0], parts);
    uint32_t field = (1u << bits) - 1, out = c, sum = c;
    for (unsigned p = 0; p < parts; p++) {
        if (!(written >> p & 1))
            continue;
        int64_t x = part_of(a, b, i->sel[1], p, 0, bits, sa);
        int64_t y = part_of(a, b, i->sel[2], p, parts, bits, sb);
        int64_t r = combine(i, kind, x, y, 0);
        if (i->flags & PTX_F_SAT)
            r = saturate(r, bits, sd);
        sum += (uint32_t)r;
        out = (out & ~(field << p * bits)) | ((uint32_t)r & field) << p * bits;
    }
    return i->mode == PTX_MODE_VADD ? sum : out;
}

int op_video(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct ptx_inst *i = (const struct ptx_inst *)(uintptr_t)in->imm;
    const u32 *pa = SLOT(u32, w, in->a), *pb = SLOT(u32, w, in->b), *pc = SLOT(u32, w, in->c);
    u32 *pd = SLOT(u32, w, in->d);
    unsigned parts = parts_of(i->op);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        pd[l] = parts == 1 ? scalar(i, pa[l], pb[l], pc[l]) : simd(i, parts, pa[l], pb[l], pc[l]);
    }
    return STEP_NEXT;
}

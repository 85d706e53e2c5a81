/* Checks of arithmetic, comparisons and conversions: that the instruction's types allow its
 * rounding, saturation and flushing. The forms in ptx_ops.def list the modifiers; this file checks
 * which may be combined. */
#include "ptx/read/parse.h"

static bool refuse(struct parser *p, const struct ptx_inst *inst, const struct token *at,
                   const char *what)
{
    return parser_fail(p, at, "%s: %s .%s", ptx_op_name(inst->op), what,
                       ptx_type_name(inst->type[0]));
}

static bool is_half(enum ptx_type t)
{
    return t == PTX_T_F16 || t == PTX_T_F16X2;
}

static bool is_brain(enum ptx_type t)
{
    return t == PTX_T_BF16 || t == PTX_T_BF16X2;
}

static bool is_float_rounding(uint8_t rnd)
{
    return rnd >= PTX_RND_RN && rnd <= PTX_RND_RP;
}

static bool is_whole_rounding(uint8_t rnd)
{
    return rnd >= PTX_RND_RNI && rnd <= PTX_RND_RPI;
}

/* Checks .ftz and .sat, which floats may have. */
static bool check_flags(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    enum ptx_type t = inst->type[0];

    if (inst->flags & PTX_F_FTZ && (t == PTX_T_F64 || is_brain(t)))
        return refuse(p, inst, at, "there is no .ftz of");
    if (inst->flags & PTX_F_SAT && (t == PTX_T_F64 || is_brain(t)))
        return refuse(p, inst, at, "there is no .sat of");
    return true;
}

static bool check_float(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    enum ptx_type t = inst->type[0];
    bool only_nearest = is_half(t) || (is_brain(t) && inst->op != PTX_OP_FMA);

    if (only_nearest && inst->rnd && inst->rnd != PTX_RND_RN)
        return refuse(p, inst, at, "expected .rn for");
    if (inst->op == PTX_OP_MAD && !inst->rnd)
        return refuse(p, inst, at, "expected a rounding mode for");
    if (inst->flags & PTX_F_OOB && inst->flags & PTX_F_FTZ)
        return refuse(p, inst, at, ".oob and .ftz do not go together for");
    return check_flags(p, inst, at);
}

static bool check_integer(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    enum ptx_type t = inst->type[0];
    bool needs_high = inst->op == PTX_OP_MAD || inst->op == PTX_OP_MAD24;

    if (inst->flags & PTX_F_SAT && (t != PTX_T_S32 || (needs_high && inst->mode != PTX_MODE_HI)))
        return refuse(p, inst, at,
                      needs_high ? "expected .hi.sat.s32, found" : "there is no .sat of");
    if (inst->flags & PTX_F_RELU && t != PTX_T_S32 && t != PTX_T_S16X2)
        return refuse(p, inst, at, "there is no .relu of");
    if (inst->op == PTX_OP_SUB && (t == PTX_T_U16X2 || t == PTX_T_S16X2))
        return refuse(p, inst, at, "there is no sub of");
    return true;
}

static bool check_quotient(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    enum ptx_type t = inst->type[0];

    if (inst->op == PTX_OP_DIV && t == PTX_T_F32 && !inst->rnd &&
        !(inst->flags & (PTX_F_APPROX | PTX_F_FULL)))
        return refuse(p, inst, at, "expected a rounding mode, .approx or .full for");
    if (inst->op == PTX_OP_RCP && t == PTX_T_F64 && inst->flags & PTX_F_APPROX &&
        !(inst->flags & PTX_F_FTZ))
        return refuse(p, inst, at, "expected .approx.ftz for");
    if (t == PTX_T_F64 && inst->op != PTX_OP_RCP && inst->flags & PTX_F_FTZ)
        return refuse(p, inst, at, "there is no .ftz of");
    return true;
}

static bool check_ex2(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    enum ptx_type t = inst->type[0];
    bool ftz = inst->flags & PTX_F_FTZ;

    if (is_half(t) && ftz)
        return refuse(p, inst, at, "there is no .ftz of");
    if (is_brain(t) && !ftz)
        return refuse(p, inst, at, "expected .approx.ftz for");
    return true;
}

static bool check_least(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    bool three = inst->nops > 3 && inst->ops[3].kind != PTX_OPND_NONE;

    if (inst->flags & PTX_F_ABS && !three)
        return refuse(p, inst, at, "expected .xorsign.abs for two operands of");
    return check_flags(p, inst, at);
}

static bool check_comparison(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    enum ptx_type t = inst->type[inst->op == PTX_OP_SET ? 1 : 0];
    bool is_float = ptx_type_is_float(t), bits = t >= PTX_T_B8 && t <= PTX_T_B128, ok;

    switch ((enum ptx_cmp)inst->cmp) {
    case PTX_CMP_NONE:
    case PTX_CMP_EQ:
    case PTX_CMP_NE:
        ok = true;
        break;
    case PTX_CMP_LO:
    case PTX_CMP_LS:
    case PTX_CMP_HI:
    case PTX_CMP_HS:
        ok = !is_float && !bits && !ptx_type_is_signed(t);
        break;
    case PTX_CMP_LT:
    case PTX_CMP_LE:
    case PTX_CMP_GT:
    case PTX_CMP_GE:
        ok = !bits;
        break;
    default:
        ok = is_float;
        break;
    }
    if (!ok)
        return parser_fail(p, at, "%s: this comparison does not come for .%s",
                           ptx_op_name(inst->op), ptx_type_name(t));
    if (inst->flags & PTX_F_FTZ && t != PTX_T_F32 && !is_half(t))
        return parser_fail(p, at, "%s: there is no .ftz of .%s", ptx_op_name(inst->op),
                           ptx_type_name(t));
    return true;
}

/* ---- cvt between single numbers ---- */

/* The modifiers that a conversion requires and allows. */
struct conversion {
    bool needs_rounding, may_round, ftz, sat;
    bool whole; /* to an integer: .rni and so on */
};

static struct conversion between_integers(enum ptx_type to, enum ptx_type from)
{
    unsigned a = ptx_type_bits(to), b = ptx_type_bits(from);
    bool to_signed = ptx_type_is_signed(to), from_signed = ptx_type_is_signed(from);
    bool all_fit = to_signed == from_signed ? a >= b : to_signed && a > b;

    return (struct conversion){.sat = !all_fit};
}

static struct conversion between_floats(enum ptx_type to, enum ptx_type from)
{
    unsigned a = ptx_type_bits(to), b = ptx_type_bits(from);
    bool brain = to == PTX_T_BF16 || from == PTX_T_BF16;
    bool single = to == PTX_T_F32 || from == PTX_T_F32;
    struct conversion c = {.ftz = single, .sat = !brain};

    if (to == from) {
        c.may_round = c.whole = true;
    } else if (a < b) {
        c.needs_rounding = true;
    } else if (brain) {
        c.may_round = true;
    }
    return c;
}

static struct conversion conversion_of(enum ptx_type to, enum ptx_type from)
{
    bool to_float = ptx_type_is_float(to), from_float = ptx_type_is_float(from);

    if (to_float && from_float)
        return between_floats(to, from);
    if (to_float)
        return (struct conversion){
            .needs_rounding = true, .ftz = to == PTX_T_F32, .sat = to != PTX_T_BF16};
    if (from_float)
        return (struct conversion){.needs_rounding = true,
                                   .whole = true,
                                   .ftz = from == PTX_T_F32,
                                   .sat = from != PTX_T_BF16};
    return between_integers(to, from);
}

static bool is_single(enum ptx_type t)
{
    return (t >= PTX_T_U8 && t <= PTX_T_S64) || t == PTX_T_F16 || t == PTX_T_BF16 ||
           t == PTX_T_F32 || t == PTX_T_F64;
}

static bool check_conversion(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    enum ptx_type to = inst->type[0], from = inst->type[1];
    struct conversion c = conversion_of(to, from);
    bool fits = c.whole ? is_whole_rounding(inst->rnd) : is_float_rounding(inst->rnd);
    const char *wrong = NULL;

    if (inst->flags & (PTX_F_SATFINITE | PTX_F_RELU) || !is_single(to) || !is_single(from) ||
        (inst->nops > 2 && inst->ops[2].kind != PTX_OPND_NONE))
        return true;
    if (ptx_type_bits(to) + ptx_type_bits(from) == 24 && (to == PTX_T_BF16 || from == PTX_T_BF16))
        wrong = "there is no conversion";
    else if (inst->rnd ? !fits || !(c.needs_rounding || c.may_round) : c.needs_rounding)
        wrong = c.needs_rounding ? c.whole ? "expected .rni, .rzi, .rmi or .rpi"
                                           : "expected .rn, .rz, .rm or .rp"
                                 : "expected no such rounding mode";
    else if (inst->flags & PTX_F_FTZ && !c.ftz)
        wrong = "there is no .ftz";
    else if (inst->flags & PTX_F_SAT && !c.sat)
        wrong = "there is no .sat";
    return !wrong || parser_fail(p, at, "cvt: %s from .%s to .%s", wrong, ptx_type_name(from),
                                 ptx_type_name(to));
}

/* ---- all of them ---- */

/* Checks a constant that is a position or a length in bits. */
static bool check_field(struct parser *p, const struct ptx_inst *inst, unsigned first,
                        const struct token *at)
{
    unsigned i;

    for (i = first; i < first + 2; i++)
        if (inst->ops[i].kind == PTX_OPND_IMM && inst->ops[i].imm > 255)
            return parser_fail(p, at, "%s: expected a place and length from 0 to 255, found %lld",
                               ptx_op_name(inst->op), (long long)inst->ops[i].imm);
    return true;
}

bool number_check(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    bool is_float = ptx_type_is_float(inst->type[0]);

    switch (inst->op) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_FMA:
        if (inst->type[1]) /* mixed precision has a form of its own */
            return true;
        return is_float ? check_float(p, inst, at) : check_integer(p, inst, at);
    case PTX_OP_MAD24:
        return check_integer(p, inst, at);
    case PTX_OP_DIV:
    case PTX_OP_RCP:
    case PTX_OP_SQRT:
        return check_quotient(p, inst, at);
    case PTX_OP_EX2:
        return check_ex2(p, inst, at);
    case PTX_OP_MIN:
    case PTX_OP_MAX:
        return is_float ? check_least(p, inst, at) : check_integer(p, inst, at);
    case PTX_OP_ABS:
    case PTX_OP_NEG:
        return check_flags(p, inst, at);
    case PTX_OP_SETP:
    case PTX_OP_SET:
        return check_comparison(p, inst, at);
    case PTX_OP_CVT:
        return check_conversion(p, inst, at);
    case PTX_OP_BFE:
        return check_field(p, inst, 2, at);
    case PTX_OP_BFI:
        return check_field(p, inst, 3, at);
    default:
        return true;
    }
}

/* Checks of wgmma: that types, shape and the lengths of lists agree, and which constants are for
 * negation and transposition. */
#include "ptx/read/parse.h"

/* The variants for factors of one type. */
struct rule {
    uint8_t factor, other; /* a type that may be used for either of them */
    uint16_t depth;
    uint8_t sums[2];
    bool scales;      /* constants negate the factors ... */
    bool transposes;  /* ... and transpose matrices in shared memory */
    bool by_sixteens; /* above 32 columns */
};

static const struct rule rules[] = {
    {PTX_T_F16, PTX_T_F16, 16, {PTX_T_F16, PTX_T_F32}, true, true, false},
    {PTX_T_BF16, PTX_T_BF16, 16, {PTX_T_F32}, true, true, false},
    {PTX_T_TF32, PTX_T_TF32, 8, {PTX_T_F32}, true, false, false},
    {PTX_T_E4M3, PTX_T_E5M2, 32, {PTX_T_F16, PTX_T_F32}, true, false, false},
    {PTX_T_S8, PTX_T_U8, 32, {PTX_T_S32}, false, false, true},
    {PTX_T_B1, PTX_T_B1, 256, {PTX_T_S32}, false, false, true},
};

static bool is_factor(const struct rule *rule, enum ptx_type type)
{
    return type == rule->factor || type == rule->other;
}

static const struct rule *find_rule(enum ptx_type d, enum ptx_type a, enum ptx_type b)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (is_factor(&rules[i], a) && is_factor(&rules[i], b))
            return d && (d == rules[i].sums[0] || d == rules[i].sums[1]) ? &rules[i] : NULL;
    return NULL;
}

/* Whether a register can hold such elements, as in ptxas: they are packed into 32 bits. */
static bool holds(enum ptx_type reg, enum ptx_type element)
{
    if (ptx_type_bits(reg) != 32)
        return false;
    if (reg == PTX_T_B32 || reg == element)
        return true;
    if (element == PTX_T_S32)
        return !ptx_type_is_float(reg);
    return !ptx_type_is_float(element) || (reg == PTX_T_F16X2 && element != PTX_T_F32);
}

/* Checks a list of registers for elements of a type; a factor's list may hold constants of
 * 32 bits too. */
static bool check_list(struct parser *p, const struct ptx_operand *o, unsigned count,
                       enum ptx_type type, bool factor, const struct token *at)
{
    const struct ptx_reg *regs = p->regs.data;

    if (o->kind != PTX_OPND_VEC || o->count != count)
        return parser_fail(p, at, "expected a list of %u registers, found %u", count,
                           o->kind == PTX_OPND_VEC ? o->count : 1);
    for (unsigned i = 0; i < count; i++) {
        const struct ptx_operand *e = &o->list[i];

        if (factor && e->kind == PTX_OPND_IMM && e->type != PTX_T_F64)
            continue;
        if (e->kind != PTX_OPND_REG)
            return parser_fail(p, at, "expected registers in a list of matrix elements");
        if (!holds(regs[e->reg].type, type))
            return parser_fail(p, at, "expected registers for elements of .%s, found .%s",
                               ptx_type_name(type), ptx_type_name(regs[e->reg].type));
    }
    return true;
}

static bool check_constant(struct parser *p, const struct ptx_operand *o, bool wanted, int64_t low,
                           const struct token *at)
{
    if ((o->kind != PTX_OPND_NONE) != wanted)
        return parser_fail(p, at,
                           wanted ? "wgmma.mma_async: expected another constant"
                                  : "wgmma.mma_async: expected fewer constants");
    return !wanted || (int64_t)o->imm == low || o->imm == 1 ||
           parser_fail(p, at, "wgmma.mma_async: expected %lld or 1, found %lld", (long long)low,
                       (long long)o->imm);
}

static bool check_product(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    enum ptx_type d = inst->type[0], a = inst->type[1], b = inst->type[2];
    const struct rule *rule = find_rule(d, a, b);
    const struct ptx_operand *ops = inst->ops;
    bool registers = ops[1].kind == PTX_OPND_VEC;
    unsigned m, n, k;

    if (!rule)
        return parser_fail(p, at, "wgmma.mma_async: there is no product of .%s and .%s to .%s",
                           ptx_type_name(a), ptx_type_name(b), ptx_type_name(d));
    ptx_shape_size(inst->shape, &m, &n, &k);
    if (k != rule->depth || (rule->by_sixteens && n > 32 && n % 16))
        return parser_fail(p, at, "wgmma.mma_async: .%s does not come in this shape",
                           ptx_type_name(a));
    if (rule->factor == PTX_T_S8 && a != b && p->m->version_major * 16 + p->m->version_minor < 0x84)
        return parser_fail(p, at, "wgmma.mma_async: expected .version 8.4 or later for .%s and .%s",
                           ptx_type_name(a), ptx_type_name(b));
    if (inst->flags & PTX_F_SATFINITE && rule->factor != PTX_T_S8)
        return parser_fail(p, at, "wgmma.mma_async: .satfinite goes with .s8 and .u8");
    if ((inst->mode == PTX_MODE_MMA_AND) != (a == PTX_T_B1) || inst->mode == PTX_MODE_MMA_XOR ||
        (inst->bop == PTX_BOP_POPC) != (a == PTX_T_B1))
        return parser_fail(p, at, "wgmma.mma_async: .and.popc goes with .b1, and no other does");
    if (!check_list(p, &ops[0], ptx_matrix_regs(inst, 'd'), d, false, at) ||
        (registers && !check_list(p, &ops[1], ptx_matrix_regs(inst, 'a'), a, true, at)))
        return false;
    return check_constant(p, &ops[4], rule->scales, -1, at) &&
           check_constant(p, &ops[5], rule->scales, -1, at) &&
           check_constant(p, &ops[6], rule->transposes && !registers, 0, at) &&
           check_constant(p, &ops[7], rule->transposes, 0, at);
}

bool wgmma_check(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    if (inst->op == PTX_OP_WGMMA)
        return check_product(p, inst, at);
    return inst->op != PTX_OP_WGMMA_WAIT || (int64_t)inst->ops[0].imm >= 0 ||
           parser_fail(p, at, "wgmma.wait_group: expected a count of groups, found %lld",
                       (long long)inst->ops[0].imm);
}

/* Checks of mma, wmma, ldmatrix and stmatrix: that types, shape, layouts and the lengths of
 * operands agree. */
#include "ptx/read/parse.h"

#define SHAPE(s) (1u << PTX_SHAPE_##s)

/* The shapes for factors of one type, and the types that the sums may have. */
struct rule {
    uint8_t factor;
    uint32_t mma, sparse, wmma;
    uint8_t sums[2];
};

static const uint32_t WMMA_LARGE = SHAPE(M16N16K16) | SHAPE(M8N32K16) | SHAPE(M32N8K16);
static const uint32_t MMA_BYTES = SHAPE(M8N8K16) | SHAPE(M16N8K16) | SHAPE(M16N8K32);
static const uint32_t SPARSE_BYTES = SHAPE(M16N8K32) | SHAPE(M16N8K64);
static const uint32_t MMA_NIBBLES = SHAPE(M8N8K32) | SHAPE(M16N8K32) | SHAPE(M16N8K64);
static const uint32_t SPARSE_NIBBLES = SHAPE(M16N8K64) | SHAPE(M16N8K128);

static bool rule_for(enum ptx_type factor, struct rule *out)
{
    const struct rule rules[] = {
        {PTX_T_F16,
         SHAPE(M8N8K4) | SHAPE(M16N8K8) | SHAPE(M16N8K16),
         SHAPE(M16N8K16) | SHAPE(M16N8K32),
         WMMA_LARGE,
         {PTX_T_F16, PTX_T_F32}},
        {PTX_T_BF16,
         SHAPE(M16N8K8) | SHAPE(M16N8K16),
         SHAPE(M16N8K16) | SHAPE(M16N8K32),
         WMMA_LARGE,
         {PTX_T_F32}},
        {PTX_T_TF32,
         SHAPE(M16N8K4) | SHAPE(M16N8K8),
         SHAPE(M16N8K8) | SHAPE(M16N8K16),
         SHAPE(M16N16K8),
         {PTX_T_F32}},
        {PTX_T_F64,
         SHAPE(M8N8K4) | SHAPE(M16N8K4) | SHAPE(M16N8K8) | SHAPE(M16N8K16),
         0,
         SHAPE(M8N8K4),
         {PTX_T_F64}},
        {PTX_T_U8, MMA_BYTES, SPARSE_BYTES, WMMA_LARGE, {PTX_T_S32}},
        {PTX_T_S8, MMA_BYTES, SPARSE_BYTES, WMMA_LARGE, {PTX_T_S32}},
        {PTX_T_U4, MMA_NIBBLES, SPARSE_NIBBLES, SHAPE(M8N8K32), {PTX_T_S32}},
        {PTX_T_S4, MMA_NIBBLES, SPARSE_NIBBLES, SHAPE(M8N8K32), {PTX_T_S32}},
        {PTX_T_B1,
         SHAPE(M8N8K128) | SHAPE(M16N8K128) | SHAPE(M16N8K256),
         0,
         SHAPE(M8N8K128),
         {PTX_T_S32}},
        {PTX_T_E4M3, SHAPE(M16N8K16) | SHAPE(M16N8K32), SHAPE(M16N8K64), 0, {PTX_T_F16, PTX_T_F32}},
        {PTX_T_E5M2, SHAPE(M16N8K16) | SHAPE(M16N8K32), SHAPE(M16N8K64), 0, {PTX_T_F16, PTX_T_F32}},
    };
    size_t i;

    for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (rules[i].factor == factor) {
            *out = rules[i];
            return true;
        }
    }
    return false;
}

static bool is_sum(const struct rule *rule, enum ptx_type type)
{
    return type && (type == rule->sums[0] || type == rule->sums[1]);
}

/* u8 matches s8, u4 matches s4, e4m3 matches e5m2; any other type only matches itself. */
static bool factors_match(enum ptx_type a, enum ptx_type b)
{
    return a == b || (ptx_type_bits(a) == ptx_type_bits(b) && ptx_type_bits(a) <= 8 &&
                      a != PTX_T_B1 && ptx_type_is_float(a) == ptx_type_is_float(b));
}

static unsigned reg_bits(enum ptx_type type)
{
    return type == PTX_T_F64 ? 64 : 32;
}

static bool has_register(const struct ptx_operand *o)
{
    for (unsigned i = 0; o->kind == PTX_OPND_VEC && i < o->count; i++) {
        if (o->list[i].kind == PTX_OPND_REG)
            return true;
    }
    return false;
}

/* Whether a constant can be an element. Elements that are packed into words have no constants of
 * their own: ptxas takes such a word beside registers alone. */
static bool is_element_constant(const struct ptx_operand *e, enum ptx_type type,
                                bool among_registers)
{
    if (e->kind != PTX_OPND_IMM)
        return false;
    if (e->type == PTX_T_F64 || type == PTX_T_F64)
        return e->type == type;
    if (e->type == PTX_T_F32)
        return e->type == type || among_registers;
    return type == PTX_T_S32 || among_registers;
}

static bool check_list(struct parser *p, const struct ptx_operand *o, unsigned count,
                       enum ptx_type type, const struct token *at)
{
    const struct ptx_reg *regs = p->regs.data;
    unsigned have = o->kind == PTX_OPND_VEC ? o->count : 1, bits = reg_bits(type), i;
    const bool among_registers = has_register(o);
    const struct ptx_operand *e;

    if (have != count)
        return parser_fail(p, at, "expected a list of %u registers, found %u", count, have);
    for (i = 0; i < have; i++) {
        e = o->kind == PTX_OPND_VEC ? &o->list[i] : o;
        if (is_element_constant(e, type, among_registers))
            continue;
        if (e->kind != PTX_OPND_REG && e->kind != PTX_OPND_SINK)
            return parser_fail(p, at, "expected registers in a list of matrix elements");
        if (e->kind == PTX_OPND_REG && ptx_type_bits(regs[e->reg].type) != bits)
            return parser_fail(
                p, at, "expected registers of %u bits in a list of matrix elements, found .%s",
                bits, ptx_type_name(regs[e->reg].type));
    }
    return true;
}

/* The register with a sparse factor's metadata, and the lanes whose metadata count. */
static bool check_sparse(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    const struct ptx_operand *metadata = &inst->ops[4], *selector = &inst->ops[5];
    unsigned choices = 4 / ptx_sparse_lanes(inst);

    if (metadata->kind != PTX_OPND_REG)
        return parser_fail(p, at, "mma.sp: expected a register of metadata");
    if (selector->imm >= choices)
        return parser_fail(p, at, "mma.sp: expected a selector from 0 to %u in this shape",
                           choices - 1);
    return true;
}

static bool check_mma(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    bool short_form = !inst->type[2]; /* wmma.mma of f16: d and c */
    enum ptx_type d = inst->type[0], a = short_form ? PTX_T_F16 : inst->type[1];
    enum ptx_type b = short_form ? PTX_T_F16 : inst->type[2],
                  c = short_form ? inst->type[1] : inst->type[3];
    bool free_layout =
        a == PTX_T_F16 && (inst->op == PTX_OP_WMMA_MMA || inst->shape == PTX_SHAPE_M8N8K4);
    bool sparse = ptx_sparse_chunk(inst);
    struct rule rule;
    uint32_t shapes;

    if (inst->op == PTX_OP_WMMA_MMA && ptx_type_bits(a) >= 8)
        free_layout = true;
    if (!rule_for(a, &rule) || !factors_match(a, b) || !is_sum(&rule, d) || !is_sum(&rule, c) ||
        (sparse && ptx_type_bits(a) == 8 && d == PTX_T_F16))
        return parser_fail(p, at, "%s: there is no product of .%s and .%s plus .%s to .%s",
                           ptx_op_name(inst->op), ptx_type_name(a), ptx_type_name(b),
                           ptx_type_name(c), ptx_type_name(d));
    if (inst->op == PTX_OP_MMA && c != d && (inst->shape != PTX_SHAPE_M8N8K4 || c == PTX_T_F32))
        return parser_fail(p, at, "mma: a sum of .%s does not become .%s in this shape",
                           ptx_type_name(c), ptx_type_name(d));
    shapes = sparse ? rule.sparse : inst->op == PTX_OP_MMA ? rule.mma : rule.wmma;
    if (!(shapes >> inst->shape & 1))
        return parser_fail(p, at, "%s: .%s does not come in this shape", ptx_op_name(inst->op),
                           ptx_type_name(a));
    if (!free_layout && (inst->layout[0] != PTX_LAYOUT_ROW || inst->layout[1] != PTX_LAYOUT_COL))
        return parser_fail(p, at, "%s: expected .row.col for this type and shape",
                           ptx_op_name(inst->op));
    if ((a == PTX_T_B1) != (inst->mode != PTX_MODE_NONE))
        return parser_fail(p, at, "%s: .xor.popc or .and.popc go with .b1", ptx_op_name(inst->op));
    return (!sparse || check_sparse(p, inst, at)) &&
           check_list(p, &inst->ops[0], ptx_matrix_regs(inst, 'd'), d, at) &&
           check_list(p, &inst->ops[1], ptx_matrix_regs(inst, 'a'), a, at) &&
           check_list(p, &inst->ops[2], ptx_matrix_regs(inst, 'b'), b, at) &&
           check_list(p, &inst->ops[3], ptx_matrix_regs(inst, 'c'), c, at);
}

static bool check_wmma_memory(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    static const struct {
        uint8_t type;
        uint32_t shapes;
    } sums[] = {{PTX_T_F16, SHAPE(M16N16K16) | SHAPE(M8N32K16) | SHAPE(M32N8K16)},
                {PTX_T_F32, SHAPE(M16N16K16) | SHAPE(M8N32K16) | SHAPE(M32N8K16) | SHAPE(M16N16K8)},
                {PTX_T_S32, SHAPE(M16N16K16) | SHAPE(M8N32K16) | SHAPE(M32N8K16) | SHAPE(M8N8K32) |
                                SHAPE(M8N8K128)},
                {PTX_T_F64, SHAPE(M8N8K4)}};
    char matrix = (char)('a' + (inst->mode - PTX_MODE_WMMA_A));
    bool load = inst->op == PTX_OP_WMMA_LOAD, factor = matrix == 'a' || matrix == 'b', ok = false;
    enum ptx_type type = inst->type[0];
    struct rule rule;
    size_t i;

    if (load ? matrix == 'd' : matrix != 'd')
        return parser_fail(p, at, "%s: expected %s", ptx_op_name(inst->op),
                           load ? ".a, .b or .c" : ".d");
    if (factor)
        ok = rule_for(type, &rule) && rule.wmma >> inst->shape & 1;
    for (i = 0; !factor && i < sizeof(sums) / sizeof(sums[0]); i++)
        ok |= sums[i].type == type && sums[i].shapes >> inst->shape & 1;
    if (!ok)
        return parser_fail(p, at, "%s: .%s does not come in this shape", ptx_op_name(inst->op),
                           ptx_type_name(type));
    return check_list(p, &inst->ops[load ? 0 : 1], ptx_matrix_regs(inst, matrix), type, at);
}

/* A matrix of 8x8 with 16 bits takes one register, 16x16 bytes take two, 16x8 bytes one. */
static bool check_matrix_memory(struct parser *p, const struct ptx_inst *inst,
                                const struct token *at)
{
    bool load = inst->op == PTX_OP_LDMATRIX, half = inst->type[0] == PTX_T_B16;
    enum ptx_shape shape = half ? PTX_SHAPE_M8N8 : load ? PTX_SHAPE_M16N16 : PTX_SHAPE_M16N8;
    unsigned count = inst->num * (load && !half ? 2u : 1u);

    if (inst->shape != shape || (!half && !(inst->flags & PTX_F_TRANS)) ||
        (load && !half && inst->num == 4))
        return parser_fail(p, at, "%s: expected .m8n8 with .b16, or .%s.trans with .b8",
                           ptx_op_name(inst->op), load ? "m16n16" : "m16n8");
    return check_list(p, &inst->ops[load ? 0 : 1], count, inst->type[0], at);
}

bool matrix_check(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    switch (inst->op) {
    case PTX_OP_MMA:
    case PTX_OP_WMMA_MMA:
        return check_mma(p, inst, at);
    case PTX_OP_WMMA_LOAD:
    case PTX_OP_WMMA_STORE:
        return check_wmma_memory(p, inst, at);
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
        return check_matrix_memory(p, inst, at);
    case PTX_OP_MOVMATRIX:
        return inst->shape == PTX_SHAPE_M8N8 || parser_fail(p, at, "movmatrix: expected .m8n8");
    default:
        return true;
    }
}

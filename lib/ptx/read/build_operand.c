/* Makes a struct ptx_operand from an operand as written, and checks that it fits its position in
 * the instruction's form. */
#include "ptx/read/parse.h"

/* ---- the check of an operand against its position ---- */

/* ld, st, cvt and similar instructions accept registers wider than their type. */
static bool takes_wider(const struct ptx_inst *inst)
{
    enum ptx_class class = ptx_op_class(inst->op);

    return class == PTX_CLASS_LOAD || class == PTX_CLASS_STORE || class == PTX_CLASS_SURF ||
           inst->op == PTX_OP_CVT;
}

static bool is_bits(enum ptx_type t)
{
    return t >= PTX_T_B8 && t <= PTX_T_B128;
}

/* Bits fit everything; integers fit integers; f16, f32 and f64 only fit themselves. Narrow and
 * packed floats, which no register is declared with, are held in bits or integers. */
static bool kind_fits(enum ptx_type want, enum ptx_type have)
{
    bool has_register = want == PTX_T_F16 || want == PTX_T_F32 || want == PTX_T_F64;

    if (is_bits(want) || is_bits(have) || want == have)
        return true;
    if (have == PTX_T_F16X2)
        return !has_register;
    if (ptx_type_is_float(want) && (has_register || want == PTX_T_F32X2))
        return false;
    return !ptx_type_is_float(have) || want == PTX_T_TF32;
}

static bool register_fits(const struct parser *p, const struct ptx_inst *inst, enum ptx_type type,
                          uint32_t reg)
{
    enum ptx_type have = parser_reg_type(p, reg);
    unsigned want = ptx_type_bits(type), bits = ptx_type_bits(have);

    if (want == 0)
        return true;
    if (!kind_fits(type, have))
        return false;
    return bits == want || (bits > want && takes_wider(inst) &&
                            (is_bits(type) || is_bits(have) || !ptx_type_is_float(type)));
}

/* Whether the address of a variable or function is allowed as a value. */
static bool takes_symbols(const struct ptx_inst *inst)
{
    enum ptx_class class = ptx_op_class(inst->op);

    return inst->op == PTX_OP_MOV || inst->op == PTX_OP_CVTA || inst->op == PTX_OP_ISSPACEP ||
           inst->op == PTX_OP_ISTYPEP || inst->op == PTX_OP_MAPA || inst->op == PTX_OP_GETCTARANK ||
           class == PTX_CLASS_TEX || class == PTX_CLASS_SURF || class == PTX_CLASS_TENSOR;
}

static bool fits_source(const struct parser *p, const struct raw *r, enum ptx_type type,
                        const struct ptx_inst *inst)
{
    switch (r->kind) {
    case RAW_REG:
        return (parser_reg_type(p, r->o.reg) == PTX_T_PRED) == (type == PTX_T_PRED) &&
               (!r->bang || type == PTX_T_PRED) &&
               (p->lenient || register_fits(p, inst, type, r->o.reg));
    case RAW_NUMBER:
        return true;
    case RAW_SREG: /* ptxas accepts it, too */
        return inst->op == PTX_OP_MOV || inst->op == PTX_OP_CVT;
    case RAW_SYM:
    case RAW_FUNC:
        /* ptxas accepts symbol+offset anywhere; a symbol alone cannot replace a register */
        return type != PTX_T_PRED &&
               (takes_symbols(inst) || (r->kind == RAW_SYM && r->o.sym.offset));
    default:
        return false;
    }
}

static bool fits_destination(const struct parser *p, const struct raw *r, enum ptx_type type)
{
    if (r->bang || r->minus)
        return false;
    return r->kind == RAW_SINK || (r->kind == RAW_REG && (parser_reg_type(p, r->o.reg) ==
                                                          PTX_T_PRED) == (type == PTX_T_PRED));
}

/* {%r1} where no .v2 or .v4 is given means %r1: surface instructions are written so. */
static const struct raw *unwrapped(const struct parser *p, const struct raw *r,
                                   const struct ptx_desc *desc, const struct ptx_inst *inst)
{
    if (r->kind == RAW_VEC && r->count == 1 && !inst->vec &&
        (desc->kind == PTX_DESC_DSTVEC || desc->kind == PTX_DESC_SRCVEC))
        return (const struct raw *)p->raws.data + r->first;
    return r;
}

bool raw_fits(const struct parser *p, const struct raw *r, const struct ptx_desc *desc,
              const struct ptx_inst *inst)
{
    enum ptx_type type = ptx_rule_type(inst, desc->rule);
    bool list;

    if (r->piped != (desc->kind == PTX_DESC_PIPE))
        return false;
    r = unwrapped(p, r, desc, inst);
    list = r->kind == RAW_VEC || r->kind == RAW_VECREG;
    switch ((enum ptx_desc_kind)desc->kind) {
    case PTX_DESC_DST:
    case PTX_DESC_DSTPRED:
    case PTX_DESC_PIPE:
        return fits_destination(p, r, type);
    case PTX_DESC_DSTVEC:
        return inst->vec ? list : fits_destination(p, r, type);
    case PTX_DESC_SRC:
    case PTX_DESC_PRED:
        return fits_source(p, r, type, inst);
    case PTX_DESC_SRCVEC:
        return inst->vec ? list : fits_source(p, r, type, inst);
    case PTX_DESC_VEC:
        return list || (!desc->optional && fits_source(p, r, type, inst));
    case PTX_DESC_VECDST:
        return list || fits_destination(p, r, type);
    case PTX_DESC_COORD:
        return list || fits_source(p, r, type, inst);
    case PTX_DESC_MEM:
        return r->kind == RAW_MEM;
    case PTX_DESC_INT:
        return r->kind == RAW_NUMBER;
    case PTX_DESC_LABEL:
        return r->kind == RAW_NAME;
    case PTX_DESC_TABLE:
        return r->kind == RAW_TABLE;
    case PTX_DESC_TEX:
        return r->kind == RAW_TEX;
    case PTX_DESC_SAMPLER: /* inside the brackets of TEX */
    case PTX_DESC_CALL:
    case PTX_DESC_STRING:
    case PTX_DESC_NOTHING:
    case PTX_DESC_END:
        return false;
    }
    return false;
}

/* ---- to struct ptx_operand ---- */

static bool check_width(struct parser *p, const struct raw *r, const struct ptx_inst *inst,
                        enum ptx_type type, uint32_t reg)
{
    enum ptx_type have = parser_reg_type(p, reg);
    char name[48];

    if ((have == PTX_T_PRED) == (type == PTX_T_PRED) && register_fits(p, inst, type, reg))
        return true;
    token_clip(&r->tok, name, sizeof(name));
    return parser_fail(p, &r->tok, "%s: expected a register of type .%s, found '%s' of type .%s",
                       ptx_op_name(inst->op), ptx_type_name(type), name, ptx_type_name(have));
}

static bool build_simple(struct parser *p, const struct raw *r, const struct ptx_inst *inst,
                         enum ptx_type type, struct ptx_operand *out)
{
    unsigned bits = ptx_type_bits(type);

    *out = r->o;
    out->type = (uint8_t)type;
    out->neg = r->bang;
    switch (r->kind) {
    case RAW_REG:
        out->kind = PTX_OPND_REG;
        return check_width(p, r, inst, type, out->reg);
    case RAW_NUMBER:
        out->kind = PTX_OPND_IMM;
        return const_to_type(p, &r->tok, type, &out->imm);
    case RAW_SREG:
        out->kind = PTX_OPND_SREG;
        if ((ptx_sreg_type(out->sreg) == PTX_T_PRED) != (type == PTX_T_PRED))
            return parser_fail(p, &r->tok, "%s does not have the type of this operand",
                               ptx_sreg_name(out->sreg));
        if (inst->op == PTX_OP_MOV && type != PTX_T_PRED &&
            out->sreg != PTX_SREG_GRIDID && /* 32 bits once */
            (ptx_type_is_float(type) ||
             (bits == 64) != (ptx_type_bits(ptx_sreg_type(out->sreg)) == 64)))
            return parser_fail(p, &r->tok, "%s: %s does not fit a .%s", ptx_op_name(inst->op),
                               ptx_sreg_name(out->sreg), ptx_type_name(type));
        return true;
    case RAW_SYM:
    case RAW_FUNC:
        out->kind = r->kind == RAW_SYM ? PTX_OPND_SYM : PTX_OPND_FUNC;
        if ((bits && bits != 32 && bits != 64) || ptx_type_is_float(type))
            return parser_fail(p, &r->tok, "%s: an address does not fit in .%s",
                               ptx_op_name(inst->op), ptx_type_name(type));
        return true;
    case RAW_SINK:
        out->kind = PTX_OPND_SINK;
        return true;
    default:
        return parser_fail(p, &r->tok, "%s: this operand cannot stand here", ptx_op_name(inst->op));
    }
}

/* The first coordinate of a layered texture or surface is the layer's index. */
static bool is_layer(const struct ptx_desc *desc, const struct ptx_inst *inst, uint32_t i)
{
    return desc->kind == PTX_DESC_COORD && i == 0 &&
           (inst->geom == PTX_GEOM_A1D || inst->geom == PTX_GEOM_A2D ||
            inst->geom == PTX_GEOM_ACUBE || inst->geom == PTX_GEOM_2DMS ||
            inst->geom == PTX_GEOM_A2DMS);
}

/* Returns the type of each of N elements of a list. */
static enum ptx_type element_type(const struct ptx_inst *inst, enum ptx_type type, uint32_t n)
{
    if (inst->op != PTX_OP_MOV)
        return type;
    switch (ptx_type_bits(type) / n) {
    case 8:
        return PTX_T_B8;
    case 16:
        return PTX_T_B16;
    case 32:
        return PTX_T_B32;
    case 64:
        return PTX_T_B64;
    default:
        return PTX_T_NONE;
    }
}

/* The floating-point type of the list's registers; none if they have no such type. */
static enum ptx_type float_beside(const struct parser *p, const struct raw *list)
{
    for (uint32_t i = 0; list->kind == RAW_VEC && i < list->count; i++) {
        const struct raw *element = (const struct raw *)p->raws.data + list->first + i;

        if (element->kind == RAW_REG && ptx_type_is_float(parser_reg_type(p, element->o.reg)))
            return parser_reg_type(p, element->o.reg);
    }
    return PTX_T_NONE;
}

/* A number among elements whose type the position leaves open has the type of the registers beside
 * it, else the one in which it is written. */
static enum ptx_type number_type(const struct raw *element, enum ptx_type beside)
{
    if (element->kind != RAW_NUMBER)
        return PTX_T_NONE;
    if (beside == PTX_T_F32 || beside == PTX_T_F64 || element->tok.kind == TOK_INT)
        return beside;
    return element->tok.kind == TOK_F32 ? PTX_T_F32 : PTX_T_F64;
}

static bool build_list(struct parser *p, const struct raw *r, const struct ptx_desc *desc,
                       const struct ptx_inst *inst, struct ptx_operand *out)
{
    enum ptx_type type = ptx_rule_type(inst, desc->rule),
                  element = element_type(inst, type, r->count);
    bool is_destination = desc->kind == PTX_DESC_DSTVEC || desc->kind == PTX_DESC_VECDST;
    const enum ptx_type beside = float_beside(p, r);
    struct raw child = *r;
    uint32_t i;

    if (inst->op == PTX_OP_MOV && (!element || r->count < 2))
        return parser_fail(p, &r->tok, "mov: %u elements do not make a .%s", r->count,
                           ptx_type_name(type));
    out->kind = PTX_OPND_VEC;
    out->type = (uint8_t)type;
    out->count = r->count;
    out->list = parser_alloc(p, r->count * sizeof(*out->list));
    if (!out->list)
        return false;
    for (i = 0; i < r->count; i++) {
        if (r->kind == RAW_VECREG) {
            child.kind = RAW_REG;
            child.o.reg = r->o.reg + i;
        } else {
            child = *parser_raw(p, r->first + i);
        }
        if (child.bang || child.minus)
            return parser_fail(p, &child.tok, "a sign cannot stand before an element of a list");
        if (is_destination ? child.kind != RAW_REG && child.kind != RAW_SINK
                           : child.kind == RAW_SINK)
            return parser_fail(p, &child.tok,
                               is_destination ? "expected a register as destination"
                                              : "'_' has no value");
        if (inst->op == PTX_OP_MOV && (child.kind == RAW_SYM || child.kind == RAW_FUNC))
            return parser_fail(p, &child.tok, "an address cannot stand in a list");
        if (!build_simple(p, &child, inst,
                          is_layer(desc, inst, i) ? PTX_T_U32
                          : element               ? element
                                                  : number_type(&child, beside),
                          &out->list[i]))
            return false;
    }
    return true;
}

/* Each brx.idx may jump to all targets of its list; other brx.idx may use the same list. */
static bool build_table(struct parser *p, const struct raw *r, struct ptx_operand *out)
{
    const struct ptx_table *table = (const struct ptx_table *)p->tables.data + r->o.table;

    *out = r->o;
    out->kind = PTX_OPND_TABLE;
    if (table->calls)
        return parser_fail(p, &r->tok, "expected a list of .branchtargets, found .calltargets");
    if (table->count > PTX_MAX_TARGETS - p->targets)
        return parser_fail_as(p, -E2BIG, &r->tok, "more than %u targets of branches",
                              PTX_MAX_TARGETS);
    p->targets += table->count;
    return true;
}

bool raw_build(struct parser *p, const struct raw *r, const struct ptx_desc *desc,
               const struct ptx_inst *inst, struct ptx_operand *out)
{
    enum ptx_type type = ptx_rule_type(inst, desc->rule), base;

    r = unwrapped(p, r, desc, inst);
    if (r->kind == RAW_VEC || r->kind == RAW_VECREG)
        return build_list(p, r, desc, inst, out);
    switch ((enum ptx_desc_kind)desc->kind) {
    case PTX_DESC_MEM:
        *out = r->o;
        out->kind = PTX_OPND_MEM;
        if (out->mem.base != PTX_BASE_REG)
            return true;
        base = parser_reg_type(p, out->mem.reg);
        if (!ptx_type_is_float(base) && (ptx_type_bits(base) == 32 || ptx_type_bits(base) == 64))
            return true;
        return parser_fail(p, &r->tok,
                           "expected a 32-bit or 64-bit register as address, found "
                           "one of type .%s",
                           ptx_type_name(base));
    case PTX_DESC_LABEL:
        out->kind = PTX_OPND_LABEL;
        out->label = parser_label_ref(p, &r->tok);
        return out->label != UINT32_MAX;
    case PTX_DESC_TABLE:
        return build_table(p, r, out);
    default:
        return build_simple(p, r, inst, type, out);
    }
}

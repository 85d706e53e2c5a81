/* Textures and surfaces: which geometries, vectors and types can be combined, as in ptxas. */
#include "ptx/read/parse.h"

#define GEOM(name) (1u << PTX_GEOM_##name)

/* The number of coordinates of a geometry, including the index of its layer or sample. */
static unsigned coordinates(enum ptx_geom geom)
{
    switch (geom) {
    case PTX_GEOM_NONE:
        return 0;
    case PTX_GEOM_1D:
        return 1;
    case PTX_GEOM_2D:
    case PTX_GEOM_A1D:
        return 2;
    case PTX_GEOM_3D:
    case PTX_GEOM_A2D:
    case PTX_GEOM_CUBE:
    case PTX_GEOM_2DMS:
        return 3;
    case PTX_GEOM_ACUBE:
    case PTX_GEOM_A2DMS:
        return 4;
    }
    return 0;
}

/* The number of elements of a gradient. */
static unsigned gradients(enum ptx_geom geom)
{
    switch (geom) {
    case PTX_GEOM_1D:
    case PTX_GEOM_A1D:
        return 1;
    case PTX_GEOM_2D:
    case PTX_GEOM_A2D:
        return 2;
    default:
        return 4;
    }
}

static unsigned elements(const struct ptx_operand *o)
{
    return o->kind == PTX_OPND_VEC ? o->count : 1;
}

/* The index of the operand that DESC describes, in a form that has it. */
static unsigned operand_index(const struct ptx_inst *inst, enum ptx_desc_kind desc)
{
    unsigned i = 0;

    while (i + 1 < inst->nops && ptx_forms[inst->form].opnds[i].kind != desc)
        i++;
    return i;
}

static bool check_coordinates(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    const struct ptx_operand *o = &inst->ops[operand_index(inst, PTX_DESC_COORD)];
    const struct ptx_operand *object = &inst->ops[operand_index(inst, PTX_DESC_TEX)];
    unsigned need = coordinates(inst->geom), have = elements(o);

    if (object->kind != PTX_OPND_REG && object->kind != PTX_OPND_SYM)
        return parser_fail(p, at, "%s: expected a register or variable before the coordinates",
                           ptx_op_name(inst->op));
    if (have < need || have > 4)
        return parser_fail(p, at, "%s: expected %u coordinates, found %u", ptx_op_name(inst->op),
                           need, have);
    if (have == 3)
        return parser_fail(p, at, "%s: expected 1, 2 or 4 coordinates, found 3",
                           ptx_op_name(inst->op));
    return true;
}

static bool check_tex(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    unsigned vec = inst->type[0] == PTX_T_F16X2 ? 2 : 4, lists = gradients(inst->geom), i;

    if (inst->vec != vec)
        return parser_fail(p, at, "%s: expected .v%u with .%s", ptx_op_name(inst->op), vec,
                           ptx_type_name(inst->type[0]));
    if ((GEOM(CUBE) | GEOM(ACUBE)) >> inst->geom & 1 && inst->type[1] != PTX_T_F32)
        return parser_fail(p, at, "%s: a cube has coordinates of .f32", ptx_op_name(inst->op));
    if (inst->op == PTX_OP_TLD4 &&
        !((GEOM(2D) | GEOM(A2D) | GEOM(CUBE) | GEOM(ACUBE)) >> inst->geom & 1))
        return parser_fail(p, at, "tld4: expected .2d, .a2d, .cube or .acube");
    for (i = operand_index(inst, PTX_DESC_COORD) + 1; i < inst->nops; i++) {
        if (ptx_forms[inst->form].opnds[i].kind != PTX_DESC_VEC ||
            inst->ops[i].kind == PTX_OPND_NONE)
            continue;
        if (elements(&inst->ops[i]) > 4)
            return parser_fail(p, at, "%s: a list of more than 4", ptx_op_name(inst->op));
        if (inst->mode == PTX_MODE_GRAD && !ptx_forms[inst->form].opnds[i].optional &&
            (inst->ops[i].kind != PTX_OPND_VEC || inst->ops[i].count != lists))
            return parser_fail(p, at, "tex: expected gradients of %u elements", lists);
    }
    return true;
}

static bool check_surface(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    const uint32_t flat = GEOM(1D) | GEOM(2D) | GEOM(3D) | GEOM(A1D) | GEOM(A2D);

    if (!(flat >> inst->geom & 1))
        return parser_fail(p, at, "%s: expected .1d, .2d, .3d, .a1d or .a2d",
                           ptx_op_name(inst->op));
    if (inst->vec > 4 || inst->vec * ptx_type_bits(inst->type[0]) > 128)
        return parser_fail(p, at, "%s: .v%u.%s is too long", ptx_op_name(inst->op), inst->vec,
                           ptx_type_name(inst->type[0]));
    return true;
}

/* A query names the handle itself, in a register of 64 bits or a variable. */
static bool check_query(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    const struct ptx_mem *mem = &inst->ops[1].mem;
    const struct ptx_reg *regs = p->regs.data;

    if (mem->base == PTX_BASE_ABS || mem->offset != 0 ||
        (mem->base == PTX_BASE_REG && ptx_type_bits(regs[mem->reg].type) != 64))
        return parser_fail(p, at, "%s: expected a register of 64 bits or a variable in brackets",
                           ptx_op_name(inst->op));
    return true;
}

bool texture_check(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    switch (inst->op) {
    case PTX_OP_TXQ:
    case PTX_OP_SUQ:
        return check_query(p, inst, at);
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
        return check_coordinates(p, inst, at) && check_tex(p, inst, at);
    default:
        return check_coordinates(p, inst, at) && check_surface(p, inst, at);
    }
}

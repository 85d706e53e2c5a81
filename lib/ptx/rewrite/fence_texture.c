/* Textures and surfaces. The hardware identifies each by a number, among those of all sessions, so
 * the kernel's numbers must not reach it. Before each instruction the number selects a row of the
 * session's table (texture_table.h), and the instruction uses the object in the column of its
 * geometry. So only objects that the worker has put into the table can be reached.
 *
 * With .trap, which is what compilers write by default, a surface access outside of the surface
 * would end the context, so .trap becomes .zero. */
#include <string.h>

#include "ptx/rewrite/fence.h"
#include "ptx/rewrite/texture_table.h"

static enum texture_column column_of_texture(const struct ptx_inst *inst)
{
    switch (inst->geom) {
    case PTX_GEOM_1D:
        return inst->type[1] == PTX_T_S32 ? TEXTURE_LINE : TEXTURE_1D;
    case PTX_GEOM_2D:
        return TEXTURE_2D;
    case PTX_GEOM_3D:
        return TEXTURE_3D;
    case PTX_GEOM_A1D:
        return TEXTURE_A1D;
    case PTX_GEOM_A2D:
        return TEXTURE_A2D;
    case PTX_GEOM_CUBE:
        return TEXTURE_CUBE;
    case PTX_GEOM_ACUBE:
        return TEXTURE_ACUBE;
    default:
        return TEXTURE_NO_COLUMN;
    }
}

static enum texture_column column_of_surface(const struct ptx_inst *inst)
{
    switch (inst->geom) {
    case PTX_GEOM_1D:
        return SURFACE_1D;
    case PTX_GEOM_2D:
        return SURFACE_2D;
    case PTX_GEOM_3D:
        return SURFACE_3D;
    case PTX_GEOM_A1D:
        return SURFACE_A1D;
    case PTX_GEOM_A2D:
        return SURFACE_A2D;
    default:
        return TEXTURE_NO_COLUMN;
    }
}

static enum texture_column column_of(const struct ptx_inst *inst)
{
    switch (inst->op) {
    case PTX_OP_TXQ:
        return TEXTURE_ANY;
    case PTX_OP_SUQ:
        return SURFACE_ANY;
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
        return column_of_texture(inst);
    default:
        return column_of_surface(inst);
    }
}

/* The register that holds the number; PTX_NO_REG: the operand is no register. */
static uint32_t number_of(const struct ptx_inst *inst)
{
    const struct ptx_operand *o;

    switch (inst->op) {
    case PTX_OP_TXQ:
    case PTX_OP_SUQ:
        o = &inst->ops[1];
        return o->mem.base == PTX_BASE_REG && !o->mem.offset ? o->mem.reg : PTX_NO_REG;
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
        o = &inst->ops[2];
        break;
    case PTX_OP_SULD:
        o = &inst->ops[1];
        break;
    default:
        o = &inst->ops[0];
        break;
    }
    return o->kind == PTX_OPND_REG ? o->reg : PTX_NO_REG;
}

/* Whether an operand names a variable. The compiler accepts none here, and turning it into a value
 * would separate the instruction from its object. */
static bool names_variable(const struct ptx_operand *o, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (o[i].kind == PTX_OPND_SYM ||
            (o[i].kind == PTX_OPND_VEC && names_variable(o[i].list, o[i].count)))
            return true;
    return false;
}

/* Whether the instruction has a separate sampler, which would be a number, too. */
static bool has_sampler(const struct fence *fence)
{
    const struct ptx_inst *inst = fence->inst;

    return strstr(fence->m->target, "texmode_independent") ||
           ((inst->op == PTX_OP_TEX || inst->op == PTX_OP_TLD4) &&
            inst->ops[3].kind != PTX_OPND_NONE);
}

/* Makes accesses outside of a surface read or write nothing. */
static void bound_surface(struct fence *fence)
{
    static const char trap[] = ".trap";
    const struct fence_span opcode = fence_opcode(fence);
    const char *at = memmem(opcode.text, opcode.len, trap, strlen(trap));

    if (at)
        fence_replace(fence, (struct fence_span){at, strlen(trap)}, ".zero");
    else if (fence->inst->mode != PTX_MODE_ZERO && fence->inst->mode != PTX_MODE_CLAMPED)
        fence_replace(fence, (struct fence_span){opcode.text + opcode.len, 0}, ".zero");
}

/* The effect of these depends on the surface's format, which no column tells. */
static bool is_formatted(enum ptx_op op)
{
    return op == PTX_OP_SUST_P || op == PTX_OP_SURED_P;
}

bool fence_texture(struct fence *fence)
{
    const struct ptx_inst *inst = fence->inst;
    const enum texture_column column = column_of(inst);
    const uint32_t number = number_of(inst);
    struct fence_span name;

    if (is_formatted(inst->op))
        return fence_refuse(fence, inst->line, "%s: a surface of some format",
                            ptx_op_name(inst->op));
    if (column == TEXTURE_NO_COLUMN)
        return fence_refuse(fence, inst->line, "%s: a geometry of no texture or surface here",
                            ptx_op_name(inst->op));
    if (has_sampler(fence))
        return fence_refuse(fence, inst->line, "%s: a sampler of its own", ptx_op_name(inst->op));
    if (number == PTX_NO_REG || ptx_type_bits(fence->f->regs[number].type) != 64 ||
        names_variable(inst->ops, inst->nops))
        return fence_refuse(fence, inst->line,
                            "%s: a texture, surface or value that is not in a register",
                            ptx_op_name(inst->op));
    fence_brackets(fence, 0, &name);
    if (!name.len)
        return fence_refuse(fence, inst->line, "%s: in an unknown form", ptx_op_name(inst->op));
    fence_before(fence,
                 "mov.b64 {gshare$lo, gshare$hi}, %.*s; and.b32 gshare$lo, gshare$lo, %u; "
                 "ld.const.b64 gshare$at, [" FENCE_TEXTURES "]; "
                 "mad.wide.u32 gshare$at, gshare$lo, %zu, gshare$at; "
                 "ld.global.nc.b64 gshare$sym, [gshare$at+%zu]; ",
                 (int)name.len, name.text, TEXTURE_ROWS - 1, sizeof(struct texture_row),
                 column * sizeof(uint64_t));
    fence_replace(fence, name, "gshare$sym");
    if (ptx_op_class(inst->op) == PTX_CLASS_SURF && inst->op != PTX_OP_SUQ)
        bound_surface(fence);
    fence->report->textures = true;
    return true;
}

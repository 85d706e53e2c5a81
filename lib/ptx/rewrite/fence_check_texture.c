/* The checker's part for textures and surfaces: rule 7 of fence_check.c. It has a table of columns
 * of its own, and shares only the texture table's layout with fence_texture.c. */
#include <assert.h>
#include <string.h>

#include "ptx/rewrite/fence_check.h"
#include "ptx/rewrite/texture_table.h"

#define GEOMETRIES (PTX_GEOM_A2DMS + 1)

/* By geometry; 0, the column of txq, for geometries that textures do not have. */
static const uint8_t texture_columns[GEOMETRIES] = {
    [PTX_GEOM_1D] = TEXTURE_1D,       [PTX_GEOM_2D] = TEXTURE_2D,   [PTX_GEOM_3D] = TEXTURE_3D,
    [PTX_GEOM_A1D] = TEXTURE_A1D,     [PTX_GEOM_A2D] = TEXTURE_A2D, [PTX_GEOM_CUBE] = TEXTURE_CUBE,
    [PTX_GEOM_ACUBE] = TEXTURE_ACUBE,
};
static const uint8_t surface_columns[GEOMETRIES] = {
    [PTX_GEOM_1D] = SURFACE_1D,   [PTX_GEOM_2D] = SURFACE_2D,   [PTX_GEOM_3D] = SURFACE_3D,
    [PTX_GEOM_A1D] = SURFACE_A1D, [PTX_GEOM_A2D] = SURFACE_A2D,
};

static_assert(sizeof(struct texture_row) == 128 && TEXTURE_ROWS == 1024,
              "what the checks below read");

bool checker_is_table_load(const struct checker *c, uint32_t i)
{
    const bool *labelled = c->labelled;
    const struct ptx_inst *inst = &c->f->insts[i];
    const struct ptx_operand *o = inst->ops;

    return i >= 3 && !labelled[i] && !labelled[i - 1] && !labelled[i - 2] &&
           inst->op == PTX_OP_LD && o[1].kind == PTX_OPND_MEM && o[1].mem.offset >= 0 &&
           o[1].mem.offset < 128 && o[1].mem.offset % 8 == 0 &&
           (o[1].mem.offset ? checker_reads(c, i, "ld.global.nc.b64 gshare$sym, [gshare$at+%d];",
                                            (int)o[1].mem.offset)
                            : checker_reads(c, i, "ld.global.nc.b64 gshare$sym, [gshare$at];")) &&
           checker_reads(c, i - 1, "mad.wide.u32 gshare$at, gshare$lo, 128, gshare$at;") &&
           checker_reads(c, i - 2, "ld.const.b64 gshare$at, [gshare$textures];") &&
           checker_reads(c, i - 3, "and.b32 gshare$lo, gshare$lo, 1023;");
}

static bool is_loaded(const struct ptx_func *f, uint32_t reg)
{
    char name[256];

    return !strcmp(ptx_reg_name(f, reg, name, sizeof(name)), "gshare$sym");
}

/* NULL if the instruction before has loaded the operand from the column; otherwise what is wrong.
 */
static const char *check_object(const struct checker *c, uint32_t i,
                                const struct ptx_operand *object, unsigned column)
{
    bool loaded = object->kind == PTX_OPND_REG ? is_loaded(c->f, object->reg)
                  : object->kind == PTX_OPND_MEM
                      ? object->mem.base == PTX_BASE_REG && !object->mem.offset &&
                            is_loaded(c->f, object->mem.reg)
                      : false;

    if (!loaded || !i || c->labelled[i] || !checker_is_table_load(c, i - 1))
        return "an object that is not from the table";
    if (c->f->insts[i - 1].ops[1].mem.offset != (int64_t)column * 8)
        return "an object of another geometry";
    return NULL;
}

static const char *check_sampled(const struct checker *c, uint32_t i)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    unsigned column = inst->geom < GEOMETRIES ? texture_columns[inst->geom] : 0;

    if (!column)
        return "a geometry without a column";
    if (column == TEXTURE_1D && inst->type[1] == PTX_T_S32)
        column = TEXTURE_LINE;
    if (inst->ops[3].kind != PTX_OPND_NONE || strstr(c->m->target, "independent"))
        return "a sampler of its own";
    return check_object(c, i, &inst->ops[2], column);
}

static const char *check_surface(const struct checker *c, uint32_t i)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    unsigned column = inst->geom < GEOMETRIES ? surface_columns[inst->geom] : 0;

    if (!column)
        return "a geometry without a column";
    if (inst->mode != PTX_MODE_ZERO && inst->mode != PTX_MODE_CLAMPED)
        return "a place outside ends the work of others too";
    return check_object(c, i, &inst->ops[inst->op == PTX_OP_SULD], column);
}

const char *checker_texture(const struct checker *c, uint32_t i)
{
    switch (c->f->insts[i].op) {
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
        return check_sampled(c, i);
    case PTX_OP_SULD:
    case PTX_OP_SUST:
    case PTX_OP_SURED:
        return check_surface(c, i);
    case PTX_OP_TXQ:
        return check_object(c, i, &c->f->insts[i].ops[1], TEXTURE_ANY);
    case PTX_OP_SUQ:
        return check_object(c, i, &c->f->insts[i].ops[1], SURFACE_ANY);
    default:
        return "not on the list";
    }
}

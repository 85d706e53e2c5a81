/* See definitions.h. */
#include <stdlib.h>

#include "ptx/ptx_table.h"
#include "ptx/rewrite/definitions.h"

static void note_operand(uint32_t *defined, const struct ptx_operand *o, uint32_t inst)
{
    if (o->kind == PTX_OPND_REG)
        defined[o->reg] = defined[o->reg] ? DEFINED_MANY : inst + 1;
    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST) && i < o->count; i++)
        note_operand(defined, &o->list[i], inst);
}

uint32_t *definitions_find(const struct ptx_func *f)
{
    uint32_t *defined = calloc((size_t)f->nregs + 1, sizeof(*defined));

    for (uint32_t i = 0; defined && i < f->nparams; i++)
        if (f->params[i]->space == PTX_SPACE_REG)
            defined[f->params[i]->offset] = DEFINED_MANY;
    for (uint32_t i = 0; defined && i < f->ninsts; i++)
        for (unsigned k = 0; k < f->insts[i].nops; k++)
            if (ptx_operand_written(&f->insts[i], k))
                note_operand(defined, &f->insts[i].ops[k], i);
    return defined;
}

const struct ptx_inst *definitions_only(const struct ptx_func *f, const uint32_t *definitions,
                                        uint32_t reg)
{
    const uint32_t defined = definitions[reg];
    const struct ptx_inst *inst =
        defined && defined != DEFINED_MANY ? &f->insts[defined - 1] : NULL;

    return inst && inst->guard == PTX_NO_REG ? inst : NULL;
}

static bool operand_is(const struct ptx_operand *o, uint32_t reg)
{
    if (o->kind == PTX_OPND_REG)
        return o->reg == reg;
    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST) && i < o->count; i++)
        if (operand_is(&o->list[i], reg))
            return true;
    return false;
}

bool definitions_writes(const struct ptx_inst *inst, uint32_t reg)
{
    for (unsigned k = 0; k < inst->nops; k++)
        if (ptx_operand_written(inst, k) && operand_is(&inst->ops[k], reg))
            return true;
    return false;
}

static void clear_operand(const struct ptx_operand *o, uint32_t *values)
{
    if (o->kind == PTX_OPND_REG)
        values[o->reg] = 0;
    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST) && i < o->count; i++)
        clear_operand(&o->list[i], values);
}

void definitions_clear(const struct ptx_inst *inst, uint32_t *values)
{
    for (unsigned k = 0; k < inst->nops; k++)
        if (ptx_operand_written(inst, k))
            clear_operand(&inst->ops[k], values);
}

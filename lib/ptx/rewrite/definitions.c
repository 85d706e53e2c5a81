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

/* ---- All of them ---- */

/* Counts the operand's registers; or, with INSTS, appends the instruction to the definitions of
 * each. */
static void operand_record(uint32_t *at, uint32_t *insts, const struct ptx_operand *o,
                           uint32_t inst)
{
    if (o->kind == PTX_OPND_REG && insts)
        insts[at[o->reg]++] = inst;
    else if (o->kind == PTX_OPND_REG)
        at[o->reg]++;
    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST) && i < o->count; i++)
        operand_record(at, insts, &o->list[i], inst);
}

static void operands_record(uint32_t *at, uint32_t *insts, const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        for (unsigned k = 0; k < f->insts[i].nops; k++)
            if (ptx_operand_written(&f->insts[i], k))
                operand_record(at, insts, &f->insts[i].ops[k], i);
}

bool definition_sites_init(struct definition_sites *sites, const struct ptx_func *f)
{
    /* at[r + 1] is where the definitions of register r begin; once they are filled in, where they
     * end. */
    uint32_t *at = calloc((size_t)f->nregs + 2, sizeof(*at)), *insts = NULL, sum = 0;

    if (at) {
        operands_record(at + 1, NULL, f);
        for (uint32_t r = 1; r <= f->nregs; r++) {
            const uint32_t count = at[r];

            at[r] = sum;
            sum += count;
        }
        insts = malloc(((size_t)sum + 1) * sizeof(*insts));
    }
    if (!insts) {
        free(at);
        return false;
    }
    operands_record(at + 1, insts, f);
    *sites = (struct definition_sites){at, insts};
    return true;
}

void definition_sites_deinit(struct definition_sites *sites)
{
    free(sites->first);
    free(sites->insts);
    *sites = (struct definition_sites){0};
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

/* For passes that change a module: new memory, registers and instructions; and finding things by
 * name. The module belongs to the caller's thread meanwhile. */
#include <errno.h>
#include <string.h>

#include "ptx/ir/arena.h"
#include "ptx/ptx_table.h"

struct ptx_func *ptx_module_func(const struct ptx_module *m, const char *name)
{
    uint32_t i;

    for (i = 0; i < m->nfuncs; i++)
        if (!strcmp(m->funcs[i]->name, name))
            return m->funcs[i];
    return NULL;
}

struct ptx_var *ptx_module_var(const struct ptx_module *m, const char *name)
{
    uint32_t i;

    for (i = 0; i < m->nvars; i++)
        if (!strcmp(m->vars[i]->name, name))
            return m->vars[i];
    return NULL;
}

void *ptx_alloc(struct ptx_module *m, size_t bytes)
{
    return arena_alloc(m->arena, bytes ? bytes : 1);
}

uint32_t ptx_func_add_reg(struct ptx_module *m, struct ptx_func *f, enum ptx_type type,
                          const char *name, uint32_t count)
{
    struct ptx_reg_decl *decls;
    struct ptx_reg *regs;
    char *copy;
    uint32_t i, first = f->nregs;

    if (count > PTX_MAX_REGS - f->nregs)
        return PTX_NO_REG;
    decls = ptx_alloc(m, (f->ndecls + 1) * sizeof(*decls));
    regs = ptx_alloc(m, ((size_t)f->nregs + count) * sizeof(*regs));
    copy = arena_string(m->arena, name, strlen(name));
    if (!decls || !regs || !copy)
        return PTX_NO_REG;
    if (f->ndecls)
        memcpy(decls, f->decls, f->ndecls * sizeof(*decls));
    if (f->nregs)
        memcpy(regs, f->regs, f->nregs * sizeof(*regs));
    decls[f->ndecls] = (struct ptx_reg_decl){
        .name = copy, .type = (uint8_t)type, .range = true, .first = first, .count = count};
    for (i = first; i < first + count; i++)
        regs[i] = (struct ptx_reg){(uint8_t)type, f->ndecls};
    f->decls = decls;
    f->regs = regs;
    f->ndecls++;
    f->nregs += count;
    return first;
}

int ptx_inst_init(struct ptx_module *m, struct ptx_inst *inst, enum ptx_op op)
{
    memset(inst, 0, sizeof(*inst));
    inst->op = (uint16_t)op;
    inst->form = ptx_ops[op].first;
    inst->guard = PTX_NO_REG;
    inst->ops = ptx_alloc(m, PTX_MAX_OPERANDS * sizeof(*inst->ops));
    return inst->ops ? 0 : -ENOMEM;
}

/* ---- choosing a form ---- */

/* The modifiers that the slots of FORM can say, taken from INST; false where one that must stand is
 * missing. */
static bool say_modifiers(const struct ptx_form *form, const struct ptx_inst *inst,
                          struct ptx_inst *said)
{
    const struct ptx_slot *slot;
    const struct ptx_slot_info *info;
    const struct ptx_word *w;
    unsigned types = 0;

    for (slot = form->slots; slot < form->slots + PTX_MAX_SLOTS && slot->kind; slot++) {
        if (slot->kind == PTX_SLOT_TYPE) {
            if (!inst->type[types] || !ptx_set_has(slot->set, inst->type[types]))
                return false;
            said->type[types] = inst->type[types];
            types++;
            continue;
        }
        if (!ptx_slot_word(inst, slot->kind)) {
            if (!slot->optional)
                return false;
            continue;
        }
        info = &ptx_slots[slot->kind];
        if (!info->flags)
            *((uint8_t *)said + info->field) = *((const uint8_t *)inst + info->field);
        for (w = info->words; info->flags && w->word; w++)
            said->flags |= inst->flags & w->value;
    }
    return true;
}

static bool same_modifiers(const struct ptx_inst *a, const struct ptx_inst *b)
{
    const uint32_t signs = PTX_F_NEG_A | PTX_F_NEG_B | PTX_F_NEG_C;

    return (a->flags & ~signs) == (b->flags & ~signs) &&
           !memcmp(a->type, b->type, sizeof(a->type)) && a->rnd == b->rnd && a->cmp == b->cmp &&
           a->bop == b->bop && a->aop == b->aop && a->mode == b->mode && a->mode2 == b->mode2 &&
           a->space == b->space && a->space2 == b->space2 && a->sem == b->sem &&
           a->scope == b->scope && a->cop == b->cop && a->evict == b->evict &&
           a->evict2 == b->evict2 && a->prefetch == b->prefetch && a->vec == b->vec &&
           a->geom == b->geom && a->shape == b->shape &&
           !memcmp(a->layout, b->layout, sizeof(a->layout)) && a->num == b->num;
}

static bool operand_fits(const struct ptx_operand *o, const struct ptx_desc *desc)
{
    if (o->kind == PTX_OPND_NONE)
        return desc->optional;
    switch ((enum ptx_desc_kind)desc->kind) {
    case PTX_DESC_PRED:
    case PTX_DESC_DSTPRED:
    case PTX_DESC_PIPE:
        return o->type == PTX_T_PRED;
    case PTX_DESC_MEM:
        return o->kind == PTX_OPND_MEM;
    case PTX_DESC_INT:
        return o->kind == PTX_OPND_IMM;
    case PTX_DESC_LABEL:
        return o->kind == PTX_OPND_LABEL;
    case PTX_DESC_TABLE:
        return o->kind == PTX_OPND_TABLE;
    case PTX_DESC_STRING:
        return o->kind == PTX_OPND_STRING;
    case PTX_DESC_NOTHING:
        return false;
    default:
        return o->kind != PTX_OPND_MEM && o->kind != PTX_OPND_LABEL;
    }
}

static bool operands_fit(const struct ptx_form *form, const struct ptx_inst *inst)
{
    unsigned n = 0, i;

    if (form->opnds[0].kind == PTX_DESC_CALL)
        return inst->nops == 4;
    while (n < PTX_MAX_OPERANDS && form->opnds[n].kind)
        n++;
    for (i = 0; i < n; i++)
        if (i < inst->nops ? !operand_fits(&inst->ops[i], &form->opnds[i])
                           : !form->opnds[i].optional)
            return false;
    return inst->nops <= n;
}

int ptx_inst_choose_form(struct ptx_inst *inst)
{
    unsigned first, i;
    struct ptx_inst said;

    if (inst->op == PTX_OP_NONE || inst->op >= PTX_OP_COUNT)
        return -EINVAL;
    first = ptx_ops[inst->op].first;
    for (i = first; i < first + ptx_op_form_count(inst->op); i++) {
        memset(&said, 0, sizeof(said));
        if (say_modifiers(&ptx_forms[i], inst, &said) && same_modifiers(&said, inst) &&
            operands_fit(&ptx_forms[i], inst)) {
            inst->form = (uint16_t)i;
            return 0;
        }
    }
    return -EINVAL;
}

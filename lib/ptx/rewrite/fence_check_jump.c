/* The checker's part for indirect calls and jumps: rule 3 of fence_check.c. */
#include "ptx/ptx.h"
#include "ptx/rewrite/fence_check.h"

/* Whether the operand names a function to which an indirect call may go. */
static bool is_candidate(const struct checker *c, const struct ptx_inst *call,
                         const struct ptx_operand *o)
{
    return o->kind == PTX_OPND_FUNC && o->func->has_body && !o->func->entry &&
           !checker_is_gshare_function(o->func) && checker_passes_bottom(c, call, o->func);
}

bool checker_call(struct checker *c, uint32_t i)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    const struct ptx_operand *callee = &inst->ops[1], *o;

    if (callee->kind == PTX_OPND_FUNC) {
        const struct ptx_func *f = callee->func->alias ? callee->func->alias : callee->func;

        if (!f->has_body || f->entry)
            return checker_fails(c, i, "a function that is not in the module");
        return checker_passes_bottom(c, inst, f) || checker_fails(c, i, "a frame from elsewhere");
    }
    if (callee->kind != PTX_OPND_REG || callee->reg != checker_register(c, "gshare$to"))
        return checker_fails(c, i, "a computed target");
    /* Backwards: (mov sym, f; setp p; selp to)*, mov to, f. */
    for (;;) {
        if (!i || c->labelled[i])
            return checker_fails(c, i, "a target from elsewhere");
        o = c->f->insts[i - 1].ops;
        if (c->f->insts[i - 1].op == PTX_OP_MOV && o[0].kind == PTX_OPND_REG &&
            o[0].reg == callee->reg && is_candidate(c, inst, &o[1]) &&
            c->f->insts[i - 1].guard == PTX_NO_REG)
            return true;
        if (!checker_precedes(c, &i, "selp.b64 gshare$to, gshare$sym, gshare$to, gshare$p;") ||
            i < 2 || c->labelled[i] || c->labelled[i - 1] || c->f->insts[i - 1].op != PTX_OP_SETP)
            return checker_fails(c, i, "a target that is not chosen from a list");
        i -= 2;
        o = c->f->insts[i].ops;
        if (c->f->insts[i].op != PTX_OP_MOV || !is_candidate(c, inst, &o[1]) ||
            !checker_reads(c, i, "mov.b64 gshare$sym, %s;", o[1].func->name))
            return checker_fails(c, i, "a target that is no function");
    }
}

bool checker_brx(struct checker *c, uint32_t i)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    uint32_t count = c->f->tables[inst->ops[1].table].count;
    const struct ptx_inst *min = i && !c->labelled[i] ? &c->f->insts[i - 1] : NULL;

    return (count && min && min->op == PTX_OP_MIN && min->type[0] == PTX_T_U32 &&
            min->guard == PTX_NO_REG && inst->ops[0].kind == PTX_OPND_REG &&
            checker_mentions(&min->ops[0], inst->ops[0].reg) && min->ops[2].kind == PTX_OPND_IMM &&
            min->ops[2].imm == count - 1) ||
           checker_fails(c, i, "an index that is not bounded");
}

static bool same_variables(struct ptx_var *const *a, uint32_t na, struct ptx_var *const *b,
                           uint32_t nb)
{
    bool same = na == nb;

    for (uint32_t i = 0; same && i < na; i++)
        same = a[i]->size == b[i]->size && a[i]->align == b[i]->align && a[i]->space == b[i]->space;
    return same;
}

bool checker_alias(struct checker *c)
{
    const struct ptx_func *f = c->f, *of = f->alias;

    return (same_variables(f->params, f->nparams, of->params, of->nparams) &&
            same_variables(f->rets, f->nrets, of->rets, of->nrets)) ||
           checker_fails(c, UINT32_MAX, "an alias with other parameters");
}

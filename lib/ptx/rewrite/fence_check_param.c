/* The checker's part for kernel parameters: rule 5 of fence_check.c. */
#include "ptx/ptx.h"
#include "ptx/rewrite/fence_check.h"

static bool is_write_of(const struct ptx_inst *inst, uint32_t reg)
{
    return inst->ops[0].kind == PTX_OPND_REG && inst->ops[0].reg == reg;
}

/* Whether the code right before instruction *I limits gshare$sym to LIMIT, and the parameters are
 * laid out in the constant bank as the reader lays them out. */
static bool is_bounded_by_constant(const struct checker *c, uint32_t *i, uint64_t limit)
{
    const struct ptx_inst *min = *i ? &c->f->insts[*i - 1] : NULL;

    for (uint32_t k = 0; k < c->f->nparams; k++)
        if (c->f->params[k]->align > 16)
            return false;
    return min && min->op == PTX_OP_MIN && min->ops[2].kind == PTX_OPND_IMM &&
           min->ops[2].imm <= limit &&
           checker_precedes(c, i, "min.u64 gshare$sym, gshare$sym, %llu;",
                            (unsigned long long)min->ops[2].imm);
}

/* Whether the code right before instruction *I limits gshare$sym to the distance from gshare$far to
 * BYTES before the end of the parameter LAST. */
static bool is_bounded_by_last(const struct checker *c, uint32_t *i, const struct ptx_var *last,
                               uint64_t bytes)
{
    return last && checker_precedes(c, i,
                                    "mov.b64 gshare$at, %s;\n"
                                    "add.s64 gshare$at, gshare$at, %lld;\n"
                                    "sub.s64 gshare$at, gshare$at, gshare$far;\n"
                                    "and.b64 gshare$at, gshare$at, -%llu;\n"
                                    "min.u64 gshare$sym, gshare$sym, gshare$at;",
                                    last->name, (long long)last->size - (long long)bytes,
                                    (unsigned long long)bytes);
}

/* Whether the code right before instruction I makes gshare$far an address from which BYTES lie
 * among the kernel's parameters, the last of which is LAST. */
static bool is_bounded_to_parameters(const struct checker *c, uint32_t i,
                                     const struct ptx_var *last, uint64_t bytes)
{
    uint32_t sym = checker_register(c, "gshare$sym");

    if (!last || bytes > last->offset + last->size ||
        !checker_precedes(c, &i, "add.s64 gshare$far, gshare$far, gshare$sym;") || !i ||
        c->labelled[i] ||
        (!is_bounded_by_constant(c, &i, last->offset + last->size - bytes) &&
         !is_bounded_by_last(c, &i, last, bytes)))
        return false;
    /* The value of the offset before it is bounded does not matter, if the base is not changed. */
    while (i && !c->labelled[i] &&
           (c->f->insts[i - 1].op == PTX_OP_ADD || c->f->insts[i - 1].op == PTX_OP_SUB) &&
           is_write_of(&c->f->insts[i - 1], sym))
        i--;
    return i && c->f->insts[i - 1].ops[1].kind == PTX_OPND_SYM &&
           c->f->insts[i - 1].ops[1].sym.var == c->f->params[0] &&
           checker_precedes(c, &i, "mov.b64 gshare$far, %s;", c->f->params[0]->name);
}

bool checker_parameter(struct checker *c, uint32_t i, const struct ptx_mem *mem)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    const struct ptx_var *last = NULL;
    uint64_t bytes = checker_access_bytes(inst);

    if (mem->base == PTX_BASE_VAR) {
        for (uint32_t k = 0; c->f->entry && k < c->f->nparams; k++)
            if (mem->var == c->f->params[k] &&
                (mem->offset < 0 || (uint64_t)mem->offset > mem->var->size ||
                 bytes > mem->var->size - (uint64_t)mem->offset))
                return checker_fails(c, i, "not inside the parameter");
        return true;
    }
    if (!c->f->entry)
        return (mem->base == PTX_BASE_REG && inst->space != PTX_SPACE_PARAM_ENTRY) ||
               checker_fails(c, i, "a parameter of an unknown kernel");
    for (uint32_t k = 0; k < c->f->nparams && !checker_is_reserved(c->f->params[k]->name); k++)
        last = c->f->params[k];
    return (inst->op == PTX_OP_LD && inst->space != PTX_SPACE_PARAM_FUNC &&
            mem->base == PTX_BASE_REG && mem->reg == checker_register(c, "gshare$far") &&
            !mem->offset && is_bounded_to_parameters(c, i, last, bytes)) ||
           checker_fails(c, i, "not inside the kernel's parameters");
}

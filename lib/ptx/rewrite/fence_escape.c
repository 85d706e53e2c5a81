/* Whether addresses of local variables leave their functions. Where none does, a function has only
 * addresses of its own variables, whatever it is called with; so a store off a pointer that it got
 * means no caller's variable (fence_stack.c).
 *
 * A register that may hold something of such an address is marked, over the whole function and in
 * any order of its instructions. The address leaves by a store of the register, or as an argument.
 * Functions of the house (printing, the heap) store through none that they are given. */
#include <stdlib.h>

#include "ptx/rewrite/definitions.h"
#include "ptx/rewrite/fence.h"

/* Through the instructions of a function; each marks at least one more register. */
enum { MOST_ROUNDS = 64 };

/* Whose calls have the parameter. */
enum gets { GETS_HOUSE = 1, GETS_OTHER = 2 };

struct search {
    const struct ptx_func *f;
    bool *marked;  /* by register */
    uint8_t *gets; /* by variable of the function, a parameter of calls: enum gets */
    bool changed;
};

static bool is_marked(const struct search *s, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPND_REG)
        return s->marked[o->reg];
    if (o->kind == PTX_OPND_SYM)
        return o->sym.var->space == PTX_SPACE_LOCAL;
    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST) && i < o->count; i++)
        if (is_marked(s, &o->list[i]))
            return true;
    return false;
}

/* What the instruction is given, but for the address that it accesses. */
static bool takes_marked(const struct search *s, const struct ptx_inst *inst)
{
    for (unsigned k = 0; k < inst->nops; k++)
        if (!definitions_is_destination(inst, k) && is_marked(s, &inst->ops[k]))
            return true;
    return false;
}

static void mark(struct search *s, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPND_REG && s->f->regs[o->reg].type != PTX_T_PRED && !s->marked[o->reg])
        s->changed = s->marked[o->reg] = true;
    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST) && i < o->count; i++)
        mark(s, &o->list[i]);
}

static bool is_declared(const struct ptx_func *f, const struct ptx_var *var)
{
    return var->id < f->nvars && f->vars[var->id] == var;
}

static bool is_house_call(const struct ptx_inst *inst)
{
    return inst->ops[1].kind == PTX_OPND_FUNC && fence_is_house_function(inst->ops[1].func);
}

/* Notes the parameters of calls, which the function declares, by who gets them. */
static void find_arguments(struct search *s)
{
    const struct ptx_func *f = s->f;

    for (uint32_t i = 0; i < f->ninsts; i++) {
        const struct ptx_operand *args = &f->insts[i].ops[2];

        if (f->insts[i].op != PTX_OP_CALL || args->kind != PTX_OPND_LIST)
            continue;
        for (uint32_t k = 0; k < args->count; k++)
            if (args->list[k].kind == PTX_OPND_MEM && args->list[k].mem.base == PTX_BASE_VAR &&
                is_declared(f, args->list[k].mem.var))
                s->gets[args->list[k].mem.var->id] |=
                    is_house_call(&f->insts[i]) ? GETS_HOUSE : GETS_OTHER;
    }
}

static bool is_for_house(const struct search *s, const struct ptx_operand *to)
{
    return to->kind == PTX_OPND_MEM && to->mem.base == PTX_BASE_VAR &&
           to->mem.var->space == PTX_SPACE_PARAM && is_declared(s->f, to->mem.var) &&
           s->gets[to->mem.var->id] == GETS_HOUSE;
}

/* The instruction, which is given something of an address, takes it out of the function. */
static bool lets_out(const struct search *s, const struct ptx_inst *inst)
{
    switch (ptx_op_class(inst->op)) {
    case PTX_CLASS_STORE:
        return !is_for_house(s, &inst->ops[0]);
    case PTX_CLASS_CALL:
        return !is_house_call(inst);
    case PTX_CLASS_ARITH:
    case PTX_CLASS_LOAD:
    case PTX_CLASS_BRANCH:
    case PTX_CLASS_WARP:
        return false;
    default:
        return true;
    }
}

/* False: no memory. */
static bool function_lets_out(struct search *s, bool *out)
{
    const struct ptx_func *f = s->f;
    unsigned rounds = 0;

    s->marked = calloc((size_t)f->nregs + 1, sizeof(*s->marked));
    s->gets = calloc((size_t)f->nvars + 1, sizeof(*s->gets));
    if (!s->marked || !s->gets)
        return false;
    find_arguments(s);
    do {
        s->changed = false;
        for (uint32_t i = 0; i < f->ninsts && !*out; i++) {
            const struct ptx_inst *inst = &f->insts[i];

            if (!takes_marked(s, inst))
                continue;
            *out = lets_out(s, inst);
            for (unsigned k = 0; k < inst->nops && inst->op != PTX_OP_CALL; k++)
                if (definitions_is_destination(inst, k))
                    mark(s, &inst->ops[k]);
        }
        if (++rounds == MOST_ROUNDS)
            *out = true;
    } while (s->changed && !*out);
    return true;
}

bool fence_escapes(const struct ptx_module *m, bool *out)
{
    bool done = true;

    *out = false;
    for (uint32_t i = 0; i < m->nfuncs && done && !*out; i++) {
        struct search s = {.f = m->funcs[i]};

        if (s.f->has_body && !fence_is_house_function(s.f))
            done = function_lets_out(&s, out);
        free(s.marked);
        free(s.gets);
    }
    return done;
}

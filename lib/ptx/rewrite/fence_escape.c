/* Which functions may hold an address of a caller's local variable (escape analysis). A function
 * that holds none has only addresses of its own variables, so a store through a pointer that it got
 * cannot mean a variable of a caller (fence_stack.c).
 *
 * A register that may hold part of such an address is marked, over the whole function and
 * regardless of the order of instructions. An address passed as an argument reaches the called
 * function, in which values loaded from parameters are marked then. An address that is stored, or
 * passed to an indirect call, may reach any function. gshare's own functions (printing, the heap)
 * do not store through addresses that they are given. */
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx_table.h"
#include "ptx/rewrite/definitions.h"
#include "ptx/rewrite/fence.h"
#include "ptx/rewrite/heap.h"

/* The most passes over the instructions of a function. Each marks at least one more register. */
enum { MOST_ROUNDS = 64 };

struct search {
    struct fence *fence;
    const struct ptx_func *f;
    uint32_t top;                  /* the function's register FENCE_TOP, or PTX_NO_REG */
    bool *marked;                  /* by register */
    const struct ptx_inst **taker; /* for each argument variable: the call that takes it */
    bool *several;                 /* for each argument variable: several calls take it */
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

/* The arguments that the tenant's code passes, without those that fence_frames.c put before them.
 */
static struct ptx_operand own_arguments(const struct search *s, const struct ptx_operand *list)
{
    struct ptx_operand own = *list;

    if (list->kind == PTX_OPND_LIST && list->count >= FENCE_FRAME_PARAMS &&
        list->list[1].kind == PTX_OPND_REG && list->list[1].reg == s->top) {
        own.list += FENCE_FRAME_PARAMS;
        own.count -= FENCE_FRAME_PARAMS;
    }
    return own;
}

/* Whether an operand of the instruction is marked, other than the address that it accesses. */
static bool takes_marked(const struct search *s, const struct ptx_inst *inst)
{
    for (unsigned k = 0; k < inst->nops; k++) {
        const struct ptx_operand given =
            inst->op == PTX_OP_CALL && k == 2 ? own_arguments(s, &inst->ops[k]) : inst->ops[k];

        if (!ptx_operand_written(inst, k) && is_marked(s, &given))
            return true;
    }
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

/* The function that is called; NULL: the call is indirect. */
static const struct ptx_func *callee_of(const struct ptx_inst *call)
{
    const struct ptx_func *f = call->ops[1].kind == PTX_OPND_FUNC ? call->ops[1].func : NULL;

    return f && f->alias ? f->alias : f;
}

/* Records which call takes each argument variable that the function declares. */
static void find_arguments(struct search *s)
{
    const struct ptx_func *f = s->f;

    for (uint32_t i = 0; i < f->ninsts; i++) {
        const struct ptx_inst *call = &f->insts[i];
        const struct ptx_operand *args = &call->ops[2];

        if (call->op != PTX_OP_CALL || args->kind != PTX_OPND_LIST)
            continue;
        for (uint32_t k = 0; k < args->count; k++) {
            const struct ptx_mem *mem = &args->list[k].mem;

            if (args->list[k].kind != PTX_OPND_MEM || mem->base != PTX_BASE_VAR ||
                !is_declared(f, mem->var))
                continue;
            s->several[mem->var->id] |=
                s->taker[mem->var->id] && callee_of(s->taker[mem->var->id]) != callee_of(call);
            s->taker[mem->var->id] = call;
        }
    }
}

static bool is_parameter(const struct ptx_func *f, const struct ptx_var *var)
{
    return var->id < f->nparams && f->params[var->id] == var;
}

static bool loads_parameter(const struct ptx_func *f, const struct ptx_inst *inst)
{
    const struct ptx_operand *from = &inst->ops[1];

    if (from->kind == PTX_OPND_MEM && from->mem.base == PTX_BASE_VAR)
        return is_parameter(f, from->mem.var);
    return inst->space == PTX_SPACE_PARAM || inst->space == PTX_SPACE_PARAM_ENTRY ||
           inst->space == PTX_SPACE_PARAM_FUNC;
}

/* Values that the function loads from its parameters may be such addresses. Values that it returns
 * in a register are not followed, nor are addresses of parameters: compilers generate neither. */
static void mark_parameters(struct search *s)
{
    const struct ptx_func *f = s->f;

    for (uint32_t i = 0; i < f->nparams; i++)
        if (f->params[i]->space == PTX_SPACE_REG)
            s->marked[f->params[i]->offset] = true;
    for (uint32_t i = 0; i < f->nrets; i++)
        s->fence->escapes |= f->rets[i]->space == PTX_SPACE_REG;
    for (uint32_t i = 0; i < f->ninsts; i++) {
        const struct ptx_inst *inst = &f->insts[i];

        if (inst->op == PTX_OP_LD && loads_parameter(f, inst))
            mark(s, &inst->ops[0]);
        for (unsigned k = 0; k < inst->nops; k++)
            s->fence->escapes |=
                inst->ops[k].kind == PTX_OPND_SYM && is_parameter(f, inst->ops[k].sym.var);
    }
}

/* ---- Where an address goes ---- */

/* The heap's functions keep none of the addresses that they are given. The bits that they set in
 * its map look as if they did. */
static bool keeps_nothing(const struct ptx_func *f)
{
    return fence_is_gshare_function(f) ||
           !strncmp(f->name, HEAP_FUNCTIONS "$", strlen(HEAP_FUNCTIONS "$"));
}

static void goes_to(struct search *s, const struct ptx_inst *call)
{
    const struct ptx_func *to = callee_of(call);

    if (to && keeps_nothing(to))
        return;
    if (to)
        s->fence->gets_locals[to->id] = true;
    else
        s->fence->escapes = true;
}

static void is_stored(struct search *s, const struct ptx_operand *to)
{
    const struct ptx_var *var =
        to->kind == PTX_OPND_MEM && to->mem.base == PTX_BASE_VAR ? to->mem.var : NULL;

    if (var && var->space == PTX_SPACE_PARAM && is_declared(s->f, var) && s->taker[var->id] &&
        !s->several[var->id])
        goes_to(s, s->taker[var->id]);
    else
        s->fence->escapes = true;
}

/* Follows a marked value through the instruction. */
static void follow(struct search *s, const struct ptx_inst *inst)
{
    switch (ptx_op_class(inst->op)) {
    case PTX_CLASS_STORE:
        is_stored(s, &inst->ops[0]);
        return;
    case PTX_CLASS_CALL:
        goes_to(s, inst);
        return;
    case PTX_CLASS_ARITH:
    case PTX_CLASS_LOAD:
    case PTX_CLASS_BRANCH:
    case PTX_CLASS_WARP:
        for (unsigned k = 0; k < inst->nops; k++)
            if (ptx_operand_written(inst, k))
                mark(s, &inst->ops[k]);
        return;
    default:
        s->fence->escapes = true;
    }
}

/* ---- Functions ---- */

static void follow_all(struct search *s)
{
    unsigned rounds = 0;

    find_arguments(s);
    if (fence_has_frame(s->f) && s->f->nparams && !s->f->entry)
        s->marked[fence_register_named(s->f, FENCE_FRAME)] = true;
    if (s->fence->gets_locals[s->f->id])
        mark_parameters(s);
    do {
        s->changed = false;
        for (uint32_t i = 0; i < s->f->ninsts && !s->fence->escapes; i++)
            if (takes_marked(s, &s->f->insts[i]))
                follow(s, &s->f->insts[i]);
        s->fence->escapes |= ++rounds == MOST_ROUNDS;
    } while (s->changed && !s->fence->escapes);
}

/* Follows addresses through one function. False: no memory. */
static bool function_follow(struct fence *fence, const struct ptx_func *f)
{
    struct search s = {.fence = fence, .f = f, .top = fence_register_named(f, FENCE_TOP)};
    bool done;

    s.marked = calloc((size_t)f->nregs + 1, sizeof(*s.marked));
    s.taker = calloc((size_t)f->nvars + 1, sizeof(*s.taker));
    s.several = calloc((size_t)f->nvars + 1, sizeof(*s.several));
    done = s.marked && s.taker && s.several;
    if (done)
        follow_all(&s);
    free(s.marked);
    free(s.taker);
    free(s.several);
    return done;
}

/* Each function is examined at most twice: again when it turns out to get an address. */
bool fence_escapes(struct fence *fence)
{
    const uint32_t count = fence->m->nfuncs;
    enum { NEW, DONE, DONE_WITH };
    unsigned char *state = calloc((size_t)count + 1, 1);
    bool more = state != NULL, done = more;

    while (more && done && !fence->escapes) {
        more = false;
        for (uint32_t i = 0; i < count && done && !fence->escapes; i++) {
            const struct ptx_func *f = fence->m->funcs[i];

            if (!f->has_body || fence_is_gshare_function(f) || state[i] == DONE_WITH ||
                (state[i] == DONE && !fence->gets_locals[i]))
                continue;
            state[i] = fence->gets_locals[i] ? DONE_WITH : DONE;
            done = function_follow(fence, f);
            more = true;
        }
    }
    free(state);
    return done;
}

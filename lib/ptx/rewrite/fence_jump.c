/* Indirect calls and branches. The hardware would take any code address from a register, even one
 * of another tenant or in the middle of a fence. */
#include <stdio.h>
#include <string.h>

#include "ptx/rewrite/fence.h"

static bool same_params(struct ptx_var *const *a, uint32_t na, struct ptx_var *const *b,
                        uint32_t nb)
{
    if (na != nb)
        return false;
    for (uint32_t i = 0; i < na; i++)
        if (a[i]->size != b[i]->size || a[i]->align != b[i]->align || a[i]->space != b[i]->space)
            return false;
    return true;
}

bool fence_alias(struct fence *fence, const struct ptx_func *f)
{
    const struct ptx_func *of = f->alias;

    return (same_params(f->params, f->nparams, of->params, of->nparams) &&
            same_params(f->rets, f->nrets, of->rets, of->nrets)) ||
           fence_refuse(fence, f->line, "%.80s: an alias whose parameters are not those of %.80s",
                        f->name, of->name);
}

static bool is_target(const struct fence *fence, const struct ptx_func *f,
                      const struct ptx_proto *proto)
{
    return fence->reach.taken[f->id] && f->has_body && !f->entry && !fence_is_gshare_function(f) &&
           (!proto || (same_params(f->params, f->nparams, proto->params, proto->nparams) &&
                       same_params(f->rets, f->nrets, proto->rets, proto->nrets)));
}

static bool is_listed(const struct ptx_table *table, const struct ptx_func *f)
{
    for (uint32_t i = 0; i < table->count; i++)
        if ((table->funcs[i]->alias ? table->funcs[i]->alias : table->funcs[i]) == f)
            return true;
    return false;
}

/* The most steps, in a module, for finding the functions that indirect calls may mean: half a
 * second. */
#define MOST_CALL_WORK (UINT64_C(1) << 28)

/* The call goes to gshare$to, which is the address of one of the functions that it may mean:
 * functions of the module with this prototype whose address is taken somewhere. Any other value
 * selects the first of them. */
static bool call_indirect(struct fence *fence)
{
    const struct ptx_inst *inst = fence->inst;
    const struct ptx_operand *how = inst->nops > 3 ? &inst->ops[3] : NULL;
    const struct ptx_proto *proto = how && how->kind == PTX_OPND_PROTO ? how->proto : NULL;
    const struct ptx_table *table =
        how && how->kind == PTX_OPND_TABLE ? &fence->f->tables[how->table] : NULL;
    struct fence_span text = fence_operand(fence, 0);
    unsigned count = 0;

    if (text.len && *text.text == '(') /* the list of results */
        text = fence_operand(fence, 1);
    if (!proto && !table)
        return fence_refuse(fence, inst->line, "call: an address without a prototype");
    if (ptx_type_bits(fence->f->regs[inst->ops[1].reg].type) != 64 || !text.len)
        return fence_refuse(fence, inst->line, "call: an address in an unknown form");
    fence->call_work += (uint64_t)fence->m->nfuncs * (table ? table->count + 1u : 1);
    if (fence->call_work > MOST_CALL_WORK)
        return fence_refuse(fence, inst->line,
                            "call: too many calls by an address, of too many functions");
    for (uint32_t i = 0; i < fence->m->nfuncs; i++) {
        const struct ptx_func *f = fence->m->funcs[i];

        if (!is_target(fence, f, proto) || (table && !is_listed(table, f)))
            continue;
        if (count == FENCE_TARGETS)
            return fence_refuse(fence, inst->line,
                                "call: an address that may be one of more than %d functions",
                                FENCE_TARGETS);
        if (!count++)
            fence_before(fence, "mov.b64 gshare$to, %s; ", f->name);
        else
            fence_before(fence,
                         "mov.b64 gshare$sym, %s; setp.eq.s64 gshare$p, gshare$sym, %.*s; "
                         "selp.b64 gshare$to, gshare$sym, gshare$to, gshare$p; ",
                         f->name, (int)text.len, text.text);
    }
    if (!count)
        return fence_refuse(fence, inst->line,
                            "call: an address, and no function of the module fits it");
    fence_replace(fence, text, "gshare$to");
    return true;
}

bool fence_call(struct fence *fence)
{
    const struct ptx_inst *inst = fence->inst;
    const struct ptx_func *f;

    if (inst->ops[1].kind != PTX_OPND_FUNC)
        return call_indirect(fence);
    f = inst->ops[1].func->alias ? inst->ops[1].func->alias : inst->ops[1].func;
    if (f->entry)
        return fence_refuse(fence, inst->line, "call: %.80s is a kernel", f->name);
    if (f->has_body)
        return true;
    return fence_refuse(fence, inst->line, "call: %.80s is not in the module", f->name);
}

bool fence_brx(struct fence *fence)
{
    const struct ptx_inst *inst = fence->inst;
    uint32_t count = fence->f->tables[inst->ops[1].table].count;
    struct fence_span text = fence_operand(fence, 0);

    if (!count || !text.len)
        return fence_refuse(fence, inst->line, "brx.idx: a list in an unknown form");
    fence_before(fence, "min.u32 gshare$x, %.*s, %u; ", (int)text.len, text.text, count - 1);
    fence_replace(fence, text, "gshare$x");
    return true;
}

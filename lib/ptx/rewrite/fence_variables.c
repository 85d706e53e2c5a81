/* PTX_PASS_VARIABLES: the module's .global variables move into the session's memory, as with the
 * fence, but accesses are not fenced. So the session's next worker has their contents, and the
 * session is charged for them. Functions that name a variable address it through gshare$globals. */
#include "ptx/rewrite/fence.h"

static const char prologue[] = " .reg .b64 gshare$globals, gshare$at, gshare$sym;"
                               " ld.const.b64 gshare$globals, [" FENCE_VARIABLE "+8];";

static bool operand_names(const struct ptx_operand *o)
{
    if (o->kind == PTX_OPND_MEM)
        return o->mem.base == PTX_BASE_VAR && fence_is_moved(o->mem.var);
    if (o->kind == PTX_OPND_SYM)
        return fence_is_moved(o->sym.var);
    for (unsigned i = 0; o->kind == PTX_OPND_VEC && i < o->count; i++)
        if (operand_names(&o->list[i]))
            return true;
    return false;
}

static bool function_names(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        for (unsigned k = 0; k < f->insts[i].nops; k++)
            if (operand_names(&f->insts[i].ops[k]))
                return true;
    return false;
}

/* Handles an address in brackets that begins with a variable. */
static bool take_memory(struct fence *fence)
{
    const struct ptx_inst *inst = fence->inst;

    for (unsigned i = 0; i < inst->nops; i++) {
        if (inst->ops[i].kind != PTX_OPND_MEM || !operand_names(&inst->ops[i]))
            continue;
        switch (ptx_op_class(inst->op)) {
        case PTX_CLASS_LOAD:
        case PTX_CLASS_STORE:
        case PTX_CLASS_ATOM:
            if (!fence_access(fence, i, inst->space == PTX_SPACE_GENERIC, fence_access_bytes(inst)))
                return false;
            break;
        default:
            return fence_refuse(fence, inst->line, "%s: a variable where it cannot be moved",
                                ptx_op_name(inst->op));
        }
    }
    return true;
}

bool fence_variables(struct fence *fence, const struct ptx_func *f)
{
    fence->f = f;
    for (uint32_t i = 0; i < f->nvars; i++)
        if (f->vars[i]->space == PTX_SPACE_GLOBAL)
            return fence_refuse(fence, f->vars[i]->line, "%.80s: a .global variable in a function",
                                f->vars[i]->name);
    if (!f->has_body || !function_names(f))
        return true;
    edits_insert(&fence->edits, f->body_begin, prologue);
    for (uint32_t i = 0; i < f->ninsts; i++) {
        fence->inst = &f->insts[i];
        if (!take_memory(fence) || !fence_symbols(fence))
            return false;
        if (fence->edits.too_long)
            return fence_refuse(fence, fence->inst->line, "the text exceeds 64 MiB");
    }
    return true;
}

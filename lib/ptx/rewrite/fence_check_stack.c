/* The checker's part for the stack: rule 4 of fence_check.c. */
#include <string.h>

#include "ptx/ptx.h"
#include "ptx/ptx_table.h"
#include "ptx/rewrite/fence_check.h"

/* ---- The address of gshare$stack ---- */

static const struct ptx_var *stack_of(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->nvars; i++)
        if (f->vars[i]->space == PTX_SPACE_LOCAL && !strcmp(f->vars[i]->name, "gshare$stack"))
            return f->vars[i];
    return NULL;
}

/* Whether the function has gshare$bottom as its first parameter. */
static bool has_bottom(const struct ptx_func *f)
{
    return f->nparams > 1 && f->params[0]->space == PTX_SPACE_REG &&
           !strcmp(f->params[0]->name, "gshare$bottom");
}

static bool mentions(const struct ptx_inst *inst, uint32_t reg)
{
    for (unsigned k = 0; k < inst->nops; k++)
        if (checker_mentions(&inst->ops[k], reg))
            return true;
    return false;
}

/* Whether instruction I only reads gshare$bottom; a call may only pass it as an argument. */
static bool only_reads_bottom(const struct checker *c, uint32_t i)
{
    const struct ptx_inst *inst = &c->f->insts[i];

    return checker_reads(c, i, "mov.u32 gshare$y, gshare$bottom;") ||
           checker_reads(c, i, "mov.u32 gshare$frame, gshare$bottom;") ||
           checker_reads(c, i, "sub.u32 gshare$place, gshare$top, gshare$bottom;") ||
           (inst->op == PTX_OP_CALL && !checker_mentions(&inst->ops[0], c->bottom) &&
            !checker_mentions(&inst->ops[1], c->bottom));
}

bool checker_bottom(struct checker *c)
{
    const struct ptx_func *f = c->f;
    bool set = !f->entry, straight = true;

    c->bottom = checker_register(c, "gshare$bottom");
    if (c->bottom == PTX_NO_REG)
        return true;
    if (f->entry ? !stack_of(f) : !has_bottom(f) || f->params[0]->offset != c->bottom)
        return checker_fails(c, UINT32_MAX, "what stores are bounded to is not known");
    for (uint32_t i = 0; i < f->ninsts; i++) {
        straight &= !c->labelled[i] && ptx_op_class(f->insts[i].op) != PTX_CLASS_BRANCH;
        if (!mentions(&f->insts[i], c->bottom))
            continue;
        if (set ? !only_reads_bottom(c, i)
                : !straight || !checker_reads(c, i, "mov.u32 gshare$bottom, gshare$stack;"))
            return checker_fails(c, i, "what stores are bounded to is changed");
        set = true;
    }
    return true;
}

bool checker_passes_bottom(const struct checker *c, const struct ptx_inst *call,
                           const struct ptx_func *callee)
{
    const struct ptx_operand *list = &call->ops[2];
    uint32_t count = callee->nparams;

    if (!has_bottom(callee))
        return true;
    if (list->kind != PTX_OPND_LIST || c->bottom == PTX_NO_REG ||
        (list->count != count && !(callee->params[count - 1]->unsized && list->count == count - 1)))
        return false;
    return list->list[0].kind == PTX_OPND_REG && list->list[0].reg == c->bottom;
}

uint64_t checker_stack_bytes(const struct ptx_module *m)
{
    uint64_t bytes = UINT64_MAX;

    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_var *stack = m->funcs[i]->entry ? stack_of(m->funcs[i]) : NULL;

        bytes = stack && stack->size < bytes ? stack->size : bytes;
    }
    return bytes == UINT64_MAX ? 0 : bytes;
}

/* ---- Stores ---- */

/* Whether instruction I sets gshare$y to the beginning of a local variable of the function, or of
 * gshare$stack. *ROOM: its size. */
static bool is_begin_of_variables(const struct checker *c, uint32_t i, uint64_t *room)
{
    const struct ptx_operand *o = c->f->insts[i].ops;

    if (c->bottom != PTX_NO_REG && checker_reads(c, i, "mov.u32 gshare$y, gshare$bottom;")) {
        *room = c->stack_bytes;
        return true;
    }
    if (c->f->insts[i].op != PTX_OP_MOV || o[1].kind != PTX_OPND_SYM || o[1].sym.offset ||
        o[1].sym.var->space != PTX_SPACE_LOCAL || o[1].sym.var->func != c->f)
        return false;
    *room = o[1].sym.var->size;
    return checker_reads(c, i, "mov.u32 gshare$y, %s;", o[1].sym.var->name);
}

bool checker_is_bounded_if_local(const struct checker *c, uint32_t i, uint64_t bytes)
{
    const struct ptx_inst *min, *selp;
    char from[256];
    uint64_t last, room;

    if (i < 5)
        return false;
    min = &c->f->insts[i - 5];
    selp = &c->f->insts[i - 1];
    if (selp->op != PTX_OP_SELP || selp->ops[2].kind != PTX_OPND_REG || min->op != PTX_OP_MIN ||
        min->ops[2].kind != PTX_OPND_IMM || min->ops[2].imm >= 1u << 31)
        return false;
    ptx_reg_name(c->f, selp->ops[2].reg, from, sizeof(from));
    last = min->ops[2].imm;
    return checker_precedes(c, &i,
                            "sub.s32 gshare$x, gshare$x, gshare$y;\n"
                            "min.u32 gshare$x, gshare$x, %llu;\n"
                            "add.s32 gshare$x, gshare$x, gshare$y;\n"
                            "cvt.u64.u32 gshare$far, gshare$x;\n"
                            "cvta.local.u64 gshare$far, gshare$far;\n"
                            "selp.b64 gshare$at, gshare$far, %s, gshare$p;",
                            (unsigned long long)last, from) &&
           i && !c->labelled[i] && is_begin_of_variables(c, --i, &room) && last <= room &&
           bytes <= room - last &&
           checker_precedes(c, &i,
                            "isspacep.local gshare$p, %s;\n"
                            "cvta.to.local.u64 gshare$far, %s;\n"
                            "cvt.u32.u64 gshare$x, gshare$far;",
                            from, from);
}

/* Whether the address of a store to .local, off a register, was bounded to a variable right before.
 */
static bool is_bounded_to_variable(const struct checker *c, uint32_t i, const struct ptx_mem *mem)
{
    const struct ptx_inst *inst = &c->f->insts[i], *min;
    uint64_t room;
    uint32_t x = checker_register(c, "gshare$x");

    if (mem->base != PTX_BASE_REG || mem->reg != x || mem->offset ||
        !checker_precedes(c, &i, "add.s32 gshare$x, gshare$x, gshare$y;") || !i || c->labelled[i])
        return false;
    min = &c->f->insts[--i];
    if (min->op != PTX_OP_MIN || min->ops[2].kind != PTX_OPND_IMM || min->ops[2].imm >= 1u << 31 ||
        !checker_reads(c, i, "min.u32 gshare$x, gshare$x, %llu;",
                       (unsigned long long)min->ops[2].imm) ||
        !i || c->labelled[i])
        return false;
    if (c->f->insts[i - 1].op == PTX_OP_ADD && checker_mentions(&c->f->insts[i - 1].ops[0], x))
        i--;
    if (i < 2 || c->labelled[i] || c->labelled[i - 1] ||
        !checker_reads(c, i - 1, "sub.s32 gshare$x, gshare$x, gshare$y;"))
        return false;
    return is_begin_of_variables(c, i - 2, &room) && min->ops[2].imm <= room &&
           checker_access_bytes(inst) <= room - min->ops[2].imm;
}

bool checker_may_hit_stack(const struct checker *c, uint32_t i, const struct ptx_mem *mem)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    uint64_t bytes = checker_access_bytes(inst);

    if (!checker_is_store(c, inst))
        return false;
    if (mem->base == PTX_BASE_VAR)
        return mem->var->space != PTX_SPACE_SHARED && mem->var->space != PTX_SPACE_GLOBAL &&
               (mem->offset < 0 || (uint64_t)mem->offset > mem->var->size ||
                bytes > mem->var->size - (uint64_t)mem->offset);
    return inst->space != PTX_SPACE_GLOBAL && inst->space != PTX_SPACE_SHARED &&
           inst->space != PTX_SPACE_SHARED_CLUSTER && inst->space != PTX_SPACE_GENERIC &&
           !is_bounded_to_variable(c, i, mem);
}

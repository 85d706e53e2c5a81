/* Stores to local memory. ptxas keeps return addresses and spilled registers there, fenced
 * addresses among them, and no PTX tells where. So a store must end in a variable of the program.
 *
 * Where a function has one .local variable, as compilers write them, and takes no local address
 * from elsewhere, an address in the .local space is one of that variable: it is bounded to it.
 * Other stores that may hit the stack are told in the report: what a generic address points to may
 * be a variable of any caller. */
#include "ptx/rewrite/definitions.h"
#include "ptx/rewrite/fence.h"

enum { MOST_STEPS = 16 }; /* back from a register to a variable */

/* ---- Registers that hold a constant place in a variable ---- */

/* REG always holds the address of the variable plus *OFFSET. */
static bool is_place_in(const struct fence *fence, uint32_t reg, int64_t *offset)
{
    for (unsigned step = 0; step < MOST_STEPS; step++) {
        const struct ptx_inst *inst = definitions_only(fence->f, fence->definitions, reg);

        if (!inst)
            return false;
        if (inst->op == PTX_OP_MOV && inst->ops[1].kind == PTX_OPND_SYM) {
            *offset += inst->ops[1].sym.offset;
            return inst->ops[1].sym.var == fence->stack;
        }
        if (inst->op == PTX_OP_ADD && inst->ops[2].kind == PTX_OPND_IMM &&
            ptx_type_bits(inst->type[0]) == 64)
            *offset += (int64_t)inst->ops[2].imm;
        else if (inst->op != PTX_OP_MOV)
            return false;
        if (inst->ops[1].kind != PTX_OPND_REG || inst->ops[0].kind != PTX_OPND_REG)
            return false;
        reg = inst->ops[1].reg;
    }
    return false;
}

/* ---- The function's variable ---- */

/* The only variable that local addresses of the function can mean. NULL: not known. */
static const struct ptx_var *only_variable(const struct ptx_func *f)
{
    const struct ptx_var *only = NULL;

    for (uint32_t i = 0; i < f->nvars; i++) {
        if (f->vars[i]->space != PTX_SPACE_LOCAL)
            continue;
        if (only)
            return NULL;
        only = f->vars[i];
    }
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (f->insts[i].op == PTX_OP_CVTA && f->insts[i].flags & PTX_F_TO &&
            f->insts[i].space == PTX_SPACE_LOCAL)
            return NULL;
    return only && only->size < 1u << 31 ? only : NULL;
}

void fence_stack_begin(struct fence *fence)
{
    fence->stack = only_variable(fence->f);
}

/* Local addresses have 32 bits that count. */
static void bound(struct fence *fence, const struct ptx_mem *mem, uint64_t bytes,
                  struct fence_span brackets, struct fence_span name)
{
    const struct ptx_var *v = fence->stack;
    bool wide = ptx_type_bits(fence->f->regs[mem->reg].type) == 64;
    int64_t offset = mem->offset;

    if (is_place_in(fence, mem->reg, &offset) && offset >= 0 &&
        (uint64_t)offset <= v->size - bytes) {
        fence_replace(fence, brackets,
                      edits_text(&fence->edits, "[%s+%lld]", v->name, (long long)offset));
        return;
    }
    fence_before(fence, "%s gshare$x, %.*s; mov.u32 gshare$y, %s; ",
                 wide ? "cvt.u32.u64" : "mov.b32", (int)name.len, name.text, v->name);
    fence_before(fence, "sub.s32 gshare$x, gshare$x, gshare$y; ");
    if (mem->offset)
        fence_before(fence, "add.s32 gshare$x, gshare$x, %d; ", (int)mem->offset);
    fence_before(fence, "min.u32 gshare$x, gshare$x, %u; add.s32 gshare$x, gshare$x, gshare$y; ",
                 (unsigned)((v->size - bytes) / bytes * bytes));
    fence_replace(fence, brackets, "[gshare$x]");
}

/* It stays inside a variable, as it is written. */
static bool is_within(const struct ptx_mem *mem, uint64_t bytes)
{
    return mem->base == PTX_BASE_VAR && mem->offset >= 0 &&
           (uint64_t)mem->offset <= mem->var->size &&
           bytes <= mem->var->size - (uint64_t)mem->offset;
}

/* Parameters of calls lie on the stack too. */
static bool is_of_stack(const struct fence *fence, const struct ptx_mem *mem)
{
    switch (fence->inst->space) {
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_PARAM:
    case PTX_SPACE_PARAM_FUNC:
        return true;
    case PTX_SPACE_GENERIC:
        return fence->generic[PTX_SPACE_LOCAL] ||
               (mem->base == PTX_BASE_VAR && mem->var->space == PTX_SPACE_LOCAL);
    default:
        return false;
    }
}

void fence_stack(struct fence *fence, const struct ptx_mem *mem, uint64_t bytes)
{
    const struct ptx_inst *inst = fence->inst;
    enum ptx_class class = ptx_op_class(inst->op);
    struct fence_span name, brackets;
    bool known;

    if ((class != PTX_CLASS_STORE && class != PTX_CLASS_ATOM && class != PTX_CLASS_MATRIX_STORE) ||
        !is_of_stack(fence, mem) || is_within(mem, bytes) || fence_is_house_function(fence->f))
        return;
    known = inst->op == PTX_OP_ST && inst->space == PTX_SPACE_LOCAL && mem->base == PTX_BASE_REG &&
            fence->stack && bytes && fence->stack->size >= bytes;
    brackets = fence_brackets(fence, 0, &name);
    if (known && name.len)
        bound(fence, mem, bytes, brackets, name);
    else if (!fence->report->stack_line)
        fence->report->stack_line = inst->line;
}

/* Stores to local memory. ptxas keeps return addresses and spilled registers there, fenced
 * addresses among them, and PTX cannot tell where. So a store must end in a variable of the
 * program.
 *
 * Compilers give a function at most one .local variable. If a local address in the function can
 * only point into that variable, stores are bounded to it, including those by generic addresses.
 * That holds in kernels, which have no callers; in functions that get no address of a caller's
 * variable (fence_escape.c); and if local addresses do not come from generic ones. If other stores
 * may mean a variable of a caller, all such variables are in one variable of the kernel, to which
 * the stores are bounded (fence_frames.c). Any other store is recorded in the report. */
#include "ptx/rewrite/definitions.h"
#include "ptx/rewrite/fence.h"

enum { MOST_STEPS = 16 }; /* steps back from a register to a variable */

/* ---- Registers that hold a constant offset in a variable ---- */

/* Whether REG always holds the address of the variable plus *OFFSET. */
static bool is_place_in(const struct fence *fence, uint32_t reg, int64_t *offset)
{
    for (unsigned step = 0; step < MOST_STEPS; step++) {
        const struct ptx_inst *inst = definitions_only(fence->f, fence->definitions, reg);

        if (!inst)
            return false;
        if (inst->op == PTX_OP_MOV && inst->ops[1].kind == PTX_OPND_SYM) {
            *offset += inst->ops[1].sym.offset;
            return fence->stack && inst->ops[1].sym.var == fence->stack;
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

static bool makes_local_addresses(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (f->insts[i].op == PTX_OP_CVTA && f->insts[i].flags & PTX_F_TO &&
            f->insts[i].space == PTX_SPACE_LOCAL)
            return true;
    return false;
}

void fence_stack_begin(struct fence *fence)
{
    const struct ptx_func *f = fence->f;

    fence->stack = NULL;
    fence->stack_name = NULL;
    fence->stack_bytes = 0;
    fence->locals = 0;
    fence->owns_locals = f->entry || (!fence->escapes && !fence->gets_locals[f->id]);
    if (fence_has_frame(f)) {
        fence->owns_locals = true;
        fence->locals = 1;
        fence->stack_name = FENCE_BOTTOM;
        fence->stack_bytes = fence->frames_bytes;
        return;
    }
    for (uint32_t i = 0; i < f->nvars; i++)
        if (f->vars[i]->space == PTX_SPACE_LOCAL) {
            fence->stack = f->vars[i];
            fence->locals++;
        }
    if (fence->locals != 1 || fence->stack->size >= 1u << 31)
        fence->stack = NULL;
    if (fence->stack) {
        fence->stack_name = fence->stack->name;
        fence->stack_bytes = fence->stack->size;
    }
}

/* The largest multiple of the access's size at which the access is still inside the variable. */
static unsigned last_offset(const struct fence *fence, uint64_t bytes)
{
    return (unsigned)((fence->stack_bytes - bytes) / bytes * bytes);
}

/* Bounds a local address. Only its lower 32 bits count. */
static void bound(struct fence *fence, const struct ptx_mem *mem, uint64_t bytes,
                  struct fence_span brackets, struct fence_span name)
{
    bool wide = ptx_type_bits(fence->f->regs[mem->reg].type) == 64;
    int64_t offset = mem->offset;

    if (is_place_in(fence, mem->reg, &offset) && offset >= 0 &&
        (uint64_t)offset <= fence->stack_bytes - bytes) {
        fence_replace(fence, brackets,
                      edits_text(&fence->edits, "[%s+%lld]", fence->stack_name, (long long)offset));
        return;
    }
    fence_before(fence, "%s gshare$x, %.*s; mov.u32 gshare$y, %s; ",
                 wide ? "cvt.u32.u64" : "mov.b32", (int)name.len, name.text, fence->stack_name);
    fence_before(fence, "sub.s32 gshare$x, gshare$x, gshare$y; ");
    if (mem->offset)
        fence_before(fence, "add.s32 gshare$x, gshare$x, %d; ", (int)mem->offset);
    fence_before(fence, "min.u32 gshare$x, gshare$x, %u; add.s32 gshare$x, gshare$x, gshare$y; ",
                 last_offset(fence, bytes));
    fence_replace(fence, brackets, "[gshare$x]");
}

/* Whether the access names a variable and has a constant offset inside it. */
static bool is_within(const struct ptx_mem *mem, uint64_t bytes)
{
    return mem->base == PTX_BASE_VAR && mem->offset >= 0 &&
           (uint64_t)mem->offset <= mem->var->size &&
           bytes <= mem->var->size - (uint64_t)mem->offset;
}

static bool is_store(const struct fence *fence)
{
    enum ptx_class class = ptx_op_class(fence->inst->op);

    return (class == PTX_CLASS_STORE || class == PTX_CLASS_ATOM ||
            class == PTX_CLASS_MATRIX_STORE) &&
           !fence_is_gshare_function(fence->f);
}

enum fence_local fence_local(const struct fence *fence, uint64_t bytes)
{
    enum ptx_class class = ptx_op_class(fence->inst->op);

    if (!is_store(fence))
        return FENCE_LOCAL_ANY;
    /* Atomics and matrix instructions do not access local memory. */
    if (class != PTX_CLASS_STORE || (fence->owns_locals && !fence->locals))
        return FENCE_LOCAL_NEVER;
    return fence->owns_locals && fence->inst->op == PTX_OP_ST && bytes &&
                   fence->stack_bytes >= bytes
               ? FENCE_LOCAL_BOUNDED
               : FENCE_LOCAL_ANY;
}

void fence_bound_generic(struct fence *fence, const char *from, uint64_t bytes)
{
    fence_before(fence, "isspacep.local gshare$p, %s; cvta.to.local.u64 gshare$far, %s; ", from,
                 from);
    fence_before(fence, "cvt.u32.u64 gshare$x, gshare$far; mov.u32 gshare$y, %s; ",
                 fence->stack_name);
    fence_before(fence, "sub.s32 gshare$x, gshare$x, gshare$y; ");
    fence_before(fence, "min.u32 gshare$x, gshare$x, %u; add.s32 gshare$x, gshare$x, gshare$y; ",
                 last_offset(fence, bytes));
    fence_before(fence,
                 "cvt.u64.u32 gshare$far, gshare$x; cvta.local.u64 gshare$far, gshare$far; ");
    fence_before(fence, "selp.b64 gshare$at, gshare$far, %s, gshare$p; ", from);
}

/* Whether the variable is on the stack. Parameters of calls are, too. */
static bool is_of_stack(const struct fence *fence, const struct ptx_mem *mem, uint64_t bytes)
{
    switch (fence->inst->space) {
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_PARAM:
    case PTX_SPACE_PARAM_FUNC:
        return true;
    case PTX_SPACE_GENERIC:
        if (mem->base != PTX_BASE_VAR && fence_local(fence, bytes) != FENCE_LOCAL_ANY)
            return false;
        return fence->generic[PTX_SPACE_LOCAL] ||
               (mem->base == PTX_BASE_VAR && mem->var->space == PTX_SPACE_LOCAL);
    default:
        return false;
    }
}

/* Whether a store by a local address is certain to lie in the memory to which stores are bounded.
 */
static bool is_known(const struct fence *fence, const struct ptx_mem *mem, uint64_t bytes)
{
    return fence->inst->op == PTX_OP_ST && fence->inst->space == PTX_SPACE_LOCAL &&
           mem->base == PTX_BASE_REG && bytes && fence->stack_bytes >= bytes &&
           (fence->owns_locals || !makes_local_addresses(fence->f));
}

bool fence_stack_reports(const struct fence *fence, const struct ptx_mem *mem, uint64_t bytes)
{
    return is_store(fence) && is_of_stack(fence, mem, bytes) && !is_within(mem, bytes) &&
           !is_known(fence, mem, bytes);
}

void fence_stack(struct fence *fence, const struct ptx_mem *mem, uint64_t bytes)
{
    struct fence_span name, brackets;

    if (!is_store(fence) || !is_of_stack(fence, mem, bytes) || is_within(mem, bytes))
        return;
    brackets = fence_brackets(fence, 0, &name);
    if (name.len && is_known(fence, mem, bytes))
        bound(fence, mem, bytes, brackets, name);
    else if (!fence->report->stack_line)
        fence->report->stack_line = fence->inst->line;
}

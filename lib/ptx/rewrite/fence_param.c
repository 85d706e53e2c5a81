/* Kernel parameters. They lie in a constant bank, and behind them is what an earlier launch on the
 * same stream left there, possibly of another session. So a load that names a parameter must end
 * inside it, and a load through a register ends in the block of the kernel's parameters, from the
 * first to the tenant's last. Parameters of functions are registers or the thread's own stack.
 *
 * The generic address of a parameter would reach beyond it, so it becomes the address of a copy in
 * the kernel's frame (fence_frames.c). */
#include "ptx/rewrite/fence.h"

enum { BANK_ALIGN = 16 };

static bool is_kernel_parameter(const struct ptx_func *f, const struct ptx_var *v)
{
    return f->entry && v->id < f->nparams && f->params[v->id] == v;
}

/* The tenant's last parameter; other passes have added theirs behind it. NULL: the tenant has none.
 */
static const struct ptx_var *last_parameter(const struct ptx_func *f)
{
    const struct ptx_var *last = NULL;

    for (uint32_t i = 0; i < f->nparams && !fence_is_reserved_name(f->params[i]->name); i++)
        last = f->params[i];
    return last;
}

static uint64_t tenant_bytes(const struct ptx_func *f)
{
    const struct ptx_var *last = last_parameter(f);

    return last ? last->offset + last->size : 0;
}

/* Whether the offsets between the parameters in the bank are those that the reader has: the bank
 * aligns the first one to 16 bytes, and perhaps to no more. */
static bool is_layout_known(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->nparams; i++)
        if (f->params[i]->align > BANK_ALIGN)
            return false;
    return true;
}

/* Turns the register into an offset from the first parameter, and bounds the offset. */
static bool bound(struct fence *fence, const struct ptx_mem *mem, uint64_t bytes, uint64_t most)
{
    struct fence_span name, brackets = fence_brackets(fence, 0, &name);
    bool wide = ptx_type_bits(fence->f->regs[mem->reg].type) == 64;

    if (!brackets.len || !name.len)
        return fence_refuse(fence, fence->inst->line, "ld: an address in an unknown form");
    if (!wide) {
        fence_before(fence, "cvt.u64.u32 gshare$sym, %.*s; ", (int)name.len, name.text);
        name = (struct fence_span){"gshare$sym", sizeof("gshare$sym") - 1};
    }
    fence_before(fence, "mov.b64 gshare$far, %s; ", fence->f->params[0]->name);
    fence_before(fence, "sub.s64 gshare$sym, %.*s, gshare$far; ", (int)name.len, name.text);
    if (mem->offset)
        fence_before(fence, "add.s64 gshare$sym, gshare$sym, %lld; ", (long long)mem->offset);
    if (is_layout_known(fence->f)) {
        fence_before(fence, "min.u64 gshare$sym, gshare$sym, %llu; ",
                     (unsigned long long)(most / bytes * bytes));
    } else {
        const struct ptx_var *last = last_parameter(fence->f);

        fence_before(fence, "mov.b64 gshare$at, %s; add.s64 gshare$at, gshare$at, %lld; ",
                     last->name, (long long)last->size - (long long)bytes);
        fence_before(
            fence,
            "sub.s64 gshare$at, gshare$at, gshare$far; and.b64 gshare$at, gshare$at, %lld; "
            "min.u64 gshare$sym, gshare$sym, gshare$at; ",
            -(long long)bytes);
    }
    fence_before(fence, "add.s64 gshare$far, gshare$far, gshare$sym; ");
    fence_replace(fence, brackets, "[gshare$far]");
    return true;
}

bool fence_param(struct fence *fence, const struct ptx_mem *mem, uint64_t bytes)
{
    const struct ptx_inst *inst = fence->inst;
    const struct ptx_func *f = fence->f;
    uint64_t all = tenant_bytes(f);

    if (mem->base == PTX_BASE_VAR)
        return !is_kernel_parameter(f, mem->var) ||
               (mem->offset >= 0 && (uint64_t)mem->offset <= mem->var->size &&
                bytes <= mem->var->size - (uint64_t)mem->offset) ||
               fence_refuse(fence, inst->line, "%s: not inside the parameter %.80s",
                            ptx_op_name(inst->op), mem->var->name);
    if (mem->base == PTX_BASE_REG && !f->entry && inst->space != PTX_SPACE_PARAM_ENTRY)
        return true;
    if (mem->base == PTX_BASE_REG && f->entry && inst->space != PTX_SPACE_PARAM_FUNC &&
        inst->op == PTX_OP_LD && bytes && bytes <= all)
        return bound(fence, mem, bytes, all - bytes);
    return fence_refuse(fence, inst->line, "%s: an address among the parameters of any kernel",
                        ptx_op_name(inst->op));
}

/* ---- Parameters with a generic address ---- */

/* Addresses of tensor maps, which fence_maps.c makes, do not count. */
bool fence_makes_parameter_address(const struct ptx_func *f, const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_CVTA && !(inst->flags & PTX_F_TO) &&
           (inst->space == PTX_SPACE_PARAM || inst->space == PTX_SPACE_PARAM_ENTRY) &&
           !(inst->ops[0].kind == PTX_OPND_REG && fence_is_added_register(f, inst->ops[0].reg));
}

bool fence_copies_parameters(const struct ptx_func *f)
{
    for (uint32_t i = 0; f->entry && i < f->ninsts; i++)
        if (fence_makes_parameter_address(f, &f->insts[i]))
            return true;
    return false;
}

/* Any computed address starts with an instruction that takes the parameter's address as a value. */
static bool has_address(const struct ptx_func *f, const struct ptx_var *parameter)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        for (unsigned k = 0; k < f->insts[i].nops; k++)
            if (f->insts[i].ops[k].kind == PTX_OPND_SYM && f->insts[i].ops[k].sym.var == parameter)
                return true;
    return false;
}

/* "cvta.param.u64 %rd1, %rd2" */
bool fence_can_copy_parameters(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->nparams; i++)
        if (f->params[i]->align > FENCE_FRAME_ALIGN)
            return false;
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (fence_makes_parameter_address(f, &f->insts[i]) &&
            ptx_type_bits(f->insts[i].type[0]) != 64)
            return false;
    return true;
}

/* Replaces the address of the parameter by that of its copy. */
void fence_parameter_address(struct fence *fence, uint64_t at)
{
    const struct fence_span from = fence_operand(fence, 1), op = fence_opcode(fence);

    fence_before(fence, "mov.b64 gshare$from, %.*s; mov.b64 gshare$copy, %s; ", (int)from.len,
                 from.text, fence->f->params[0]->name);
    fence_before(fence, "sub.s64 gshare$copy, gshare$from, gshare$copy; "
                        "cvt.u32.u64 gshare$place, gshare$copy; ");
    fence_before(fence,
                 "add.u32 gshare$place, gshare$place, " FENCE_FRAME
                 "; add.u32 gshare$place, gshare$place, %llu; cvt.u64.u32 gshare$copy, "
                 "gshare$place; ",
                 (unsigned long long)at);
    fence_replace(fence, op, "cvta.local.u64");
    fence_replace(fence, from, "gshare$copy");
}

void fence_copy_parameters(struct fence *fence, const struct ptx_func *f, uint64_t to)
{
    struct edits *edits = &fence->edits;

    edits_insert(edits, f->body_begin, " .reg .b64 gshare$from, gshare$copy, gshare$chunk;");
    for (uint32_t i = 0; i < f->nparams; i++) {
        const struct ptx_var *v = f->params[i];
        const uint64_t size = has_address(f, v) ? v->size : 0;
        uint64_t bytes;

        for (uint64_t at = 0; at < size; at += bytes) {
            for (bytes = v->align < 8 ? v->align : 8; at + bytes > size;)
                bytes /= 2;
            edits_insert(edits, f->body_begin,
                         edits_text(edits,
                                    " ld.param.b%llu gshare$chunk, [%s+%llu];"
                                    " st.local.b%llu [" FENCE_STACK "+%llu], gshare$chunk;",
                                    8 * (unsigned long long)bytes, v->name, (unsigned long long)at,
                                    8 * (unsigned long long)bytes,
                                    (unsigned long long)(to + v->offset + at)));
        }
    }
}

/* wmma.load and wmma.store: a register holds the stride between the rows of a matrix, so they can
 * lead anywhere. If the last row would lie outside the window the stride becomes 0, so that all
 * rows are the first one, which is fenced. */
#include <stdio.h>

#include "ptx/rewrite/fence.h"

/* The bytes between the first and the last row, per unit of the stride. */
static uint64_t span_of(const struct ptx_inst *inst)
{
    unsigned m, n, k, rows, bits = ptx_type_bits(inst->type[0]);
    bool row_major = inst->layout[0] == PTX_LAYOUT_ROW;

    ptx_shape_size(inst->shape, &m, &n, &k);
    if (inst->mode == PTX_MODE_WMMA_A)
        rows = row_major ? m : k;
    else if (inst->mode == PTX_MODE_WMMA_B)
        rows = row_major ? k : n;
    else
        rows = row_major ? m : n;
    return (rows - 1) * (bits < 8 ? 1 : bits / 8);
}

/* Keeps generic rows that begin in shared or local memory there: the hardware's apertures for these
 * are 4 GiB each, and only the lowest 256 MiB of one are used. */
static void bound_other_spaces(struct fence *fence)
{
    fence_before(fence, "mov.b64 {gshare$lo, gshare$hi}, gshare$at; "
                        "isspacep.shared gshare$p, gshare$at; isspacep.local gshare$q, gshare$at; "
                        "or.pred gshare$p, gshare$p, gshare$q; ");
    fence_before(fence, "and.b32 gshare$y, gshare$lo, 0xfffffff; "
                        "selp.b32 gshare$lo, gshare$y, gshare$lo, gshare$p; "
                        "mov.b64 gshare$at, {gshare$lo, gshare$hi}; "
                        "min.u32 gshare$y, gshare$s, 0x10000; "
                        "selp.b32 gshare$x, gshare$y, gshare$x, gshare$p; ");
}

static void bound_stride(struct fence *fence, struct fence_span stride, uint64_t span)
{
    fence_before(fence,
                 "mov.b32 gshare$s, %.*s; mul.wide.u32 gshare$far, gshare$s, %llu; "
                 "add.s64 gshare$far, gshare$far, gshare$at; "
                 "mov.b64 {gshare$lo, gshare$hi}, gshare$far; ",
                 (int)stride.len, stride.text, (unsigned long long)span);
    fence_before(fence, "lop3.b32 gshare$x, gshare$hi, gshare$mask, gshare$base, 0xEA; "
                        "setp.eq.u32 gshare$p, gshare$x, gshare$hi; "
                        "setp.ge.and.s32 gshare$p, gshare$s, 0, gshare$p; "
                        "selp.b32 gshare$x, gshare$s, 0, gshare$p; ");
}

bool fence_matrix(struct fence *fence, bool generic)
{
    const struct ptx_inst *inst = fence->inst;
    const struct ptx_operand *stride = &inst->ops[2];
    const char *op = ptx_op_name(inst->op);
    bool other = generic && (fence->generic[PTX_SPACE_SHARED] || fence->generic[PTX_SPACE_LOCAL]);
    uint64_t span = span_of(inst);
    struct fence_span text;

    if (generic && fence->generic[PTX_SPACE_CONST])
        return fence_refuse(fence, inst->line, "%s: a generic address, beside those of constants",
                            op);
    if (inst->ops[inst->op == PTX_OP_WMMA_LOAD].mem.base == PTX_BASE_VAR)
        return fence_refuse(fence, inst->line, "%s: a variable as address", op);
    if (other && stride->kind == PTX_OPND_NONE)
        return fence_refuse(fence, inst->line, "%s: a generic address without a stride", op);
    if (!fence_access(fence, inst->op == PTX_OP_WMMA_LOAD, generic, 1))
        return false;
    if (stride->kind == PTX_OPND_NONE ||
        (stride->kind == PTX_OPND_IMM && !other && stride->imm < 1u << 31 &&
         stride->imm * span <= FENCE_OFFSET / 2))
        return true;
    text = fence_operand(fence, 2);
    if (!text.len)
        return fence_refuse(fence, inst->line, "%s: a stride in an unknown form", op);
    bound_stride(fence, text, span);
    if (other)
        bound_other_spaces(fence);
    fence_replace(fence, text, "gshare$x");
    return true;
}

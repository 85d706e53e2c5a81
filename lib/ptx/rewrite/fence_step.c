/* Steps: pointers computed from a fenced one by adding a stride.
 *
 * Compilers unroll a loop over rows so that a pointer takes several strides in each iteration:
 *
 *     ld.global [p]; add.s64 q, p, stride; ld.global [q]; add.s64 r, q, stride; ld.global [r]; ...
 *
 * If the stride is a product of 32 bits and a constant, q and r lie within FENCE_REACH of the
 * window if p lies in it, so the fence of p serves them, too. Three such strides, with elements of
 * four bytes, are 24 GiB. With a fence for each, a naive SGEMM was 16% slower on an H200; with one
 * fence for four strides, 6%.
 *
 * The strides have registers of the fence's own, which hold 0 from the function's first instruction
 * on, and later only such products. So the order in which blocks run does not matter. (As mad.wide
 * q, index, 4, p the sum would show its bound by itself, but if ptxas has the product already, it
 * makes two instructions of the mad and one of the add.) */
#include "ptx/rewrite/definitions.h"
#include "ptx/rewrite/fence.h"

/* What an instruction adds to a pointer. */
struct step {
    unsigned from; /* the operand that is the pointer */
    uint64_t bound;
    const struct ptx_inst
        *stride;              /* the instruction that computes the stride; NULL: it is a constant */
    struct fence_sum product; /* of the stride */
};

/* The most by which adding the operand moves an address. */
static uint64_t bound_of(const struct fence *fence, const struct ptx_operand *o, struct step *step)
{
    step->stride = NULL;
    if (o->kind == PTX_OPND_IMM)
        return (int64_t)o->imm < 0 ? -o->imm : o->imm;
    if (o->kind == PTX_OPND_REG && (step->stride = fence_stride(fence, o->reg, &step->product)))
        return fence_sum_bound(&step->product);
    return UINT64_MAX;
}

/* Whether the current instruction adds something to operand FROM, which is or will be forced. */
static bool is_step(const struct fence *fence, unsigned from, struct step *step)
{
    const struct ptx_inst *inst = fence->inst;

    step->from = from;
    if (!fence_is_address(fence, &inst->ops[from]) ||
        !fence_will_be_forced(fence, inst->ops[from].reg))
        return false;
    if (inst->op == PTX_OP_MAD) {
        step->stride = NULL;
        step->bound =
            fence_is_product(inst, &step->product) ? fence_sum_bound(&step->product) : UINT64_MAX;
    } else {
        step->bound = bound_of(fence, &inst->ops[3 - from], step);
    }
    return step->bound <= FENCE_REACH;
}

static bool find_step(const struct fence *fence, struct step *step)
{
    const struct ptx_inst *inst = fence->inst;

    if (fence->strays || !fence->plain || fence_is_gshare_function(fence->f) ||
        inst->guard != PTX_NO_REG || inst->flags || !fence_is_address(fence, &inst->ops[0]))
        return false;
    if (inst->op == PTX_OP_MAD)
        return is_step(fence, 3, step);
    return fence_adds_addresses(inst) && (is_step(fence, 1, step) || is_step(fence, 2, step));
}

/* The number of the register that holds the stride; FENCE_STRIDES: there are too many. */
static unsigned take_stride(struct fence *fence, uint32_t reg, const struct step *step)
{
    char index[256];
    unsigned k = 0;

    while (k < fence->nstrides && fence->strides[k] != reg)
        k++;
    if (k < fence->nstrides || k == FENCE_STRIDES)
        return k;
    fence->strides[fence->nstrides++] = reg;
    edits_insert(
        &fence->edits, fence->f->body_begin,
        edits_text(&fence->edits, " .reg .b64 gshare$stride%u; mov.b64 gshare$stride%u, 0;", k, k));
    edits_insert(&fence->edits, step->stride->end,
                 edits_text(&fence->edits, " mul.wide.%s gshare$stride%u, %s, %u;",
                            step->product.is_signed ? "s32" : "u32", k,
                            ptx_reg_name(fence->f, step->product.index, index, sizeof(index)),
                            step->product.factor));
    return k;
}

bool fence_step(struct fence *fence, uint64_t *beyond)
{
    const struct ptx_operand *o = fence->inst->ops;
    unsigned k = 0, by;
    struct fence_span name;
    struct step step;

    if (!find_step(fence, &step) || !fence_will_be_accessed(fence, o[0].reg))
        return false;
    by = 3 - step.from;
    *beyond = step.bound;
    if (fence->forced[o[step.from].reg] == fence->stretch)
        *beyond += fence->beyond[o[step.from].reg];
    if (*beyond > FENCE_REACH ||
        (step.stride && (k = take_stride(fence, o[by].reg, &step)) == FENCE_STRIDES))
        return false;
    name = fence_operand(fence, step.from);
    fence_force_now(fence, o[step.from].reg,
                    edits_text(&fence->edits, "%.*s", (int)name.len, name.text));
    if (step.stride)
        fence_replace(fence, fence_operand(fence, by),
                      edits_text(&fence->edits, "gshare$stride%u", k));
    return true;
}

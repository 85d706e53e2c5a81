/* Accesses off a register: forced once, they serve further accesses off it in the same stretch, the
 * text from one label to the next.
 *
 * Where no offset is negative and the instruction always runs, the register itself is forced. That
 * changes nothing of an address in the window, and so of no register that an access of at most
 * FENCE_OFFSET goes off. (Where the instruction does not run the register may lead anywhere.) With
 * the pointers of a loop forced in copies, the moves that line a copy's halves up took 6% of a
 * naive SGEMM on an H200. But a pointer that a comparison depends on, which may end a loop, is
 * forced in a copy: ptxas unrolls no loop whose end it cannot tell.
 *
 * Compilers that unroll a loop put the pointer in the middle: [p-8], [p-4], [p], [p+4]. A negative
 * offset is added before the fence, so that no access lies before the window; one at a time, that
 * kept ptxas from unrolling further, and left a sparse product 18 of 90 loads in flight. So the
 * lowest offset that follows in the stretch is added once, in a register of the fence's:
 *
 *     add.s64 gshare$low0, p, -8; (gshare$low0 is forced) ... [gshare$low0], [gshare$low0+4] ...
 *
 * Whether or not all of these accesses run, p-8 is in the window if any of the addresses is: no
 * memory lies in the first FENCE_GUARD bytes. */
#include <stdlib.h>
#include <string.h>

#include "ptx/rewrite/definitions.h"
#include "ptx/rewrite/fence.h"

enum {
    MOST_AHEAD = 64, /* instructions from an access on, where others may be off its register */
    SWEEPS = 4       /* over a function, for what comparisons depend on */
};

/* The address of an access that this file is for; NULL: it is another instruction. */
static const struct ptx_mem *address_of(const struct fence *fence, const struct ptx_inst *inst)
{
    const struct ptx_mem *mem = fence_register_access(fence, inst);

    return mem && mem->offset >= -FENCE_OFFSET && mem->offset <= FENCE_OFFSET &&
                   ptx_type_bits(fence->f->regs[mem->reg].type) == 64
               ? mem
               : NULL;
}

/* A function's parameter may be the caller's register. */
static bool is_parameter(const struct ptx_func *f, uint32_t reg)
{
    for (uint32_t i = 0; i < f->nparams; i++)
        if (f->params[i]->space == PTX_SPACE_REG && f->params[i]->offset == reg)
            return true;
    return false;
}

/* ---- What comparisons depend on ---- */

/* Whether the instruction is a comparison, or makes by a sum what one depends on. */
static bool leads_to_comparison(const struct fence *fence, const struct ptx_inst *inst)
{
    const bool sum = inst->op == PTX_OP_ADD || inst->op == PTX_OP_SUB || inst->op == PTX_OP_MOV;

    return inst->op == PTX_OP_SETP || inst->op == PTX_OP_SET ||
           (sum && inst->ops[0].kind == PTX_OPND_REG && fence->compared[inst->ops[0].reg]);
}

static void find_compared(struct fence *fence)
{
    const struct ptx_func *f = fence->f;

    for (unsigned sweep = 0; sweep < SWEEPS; sweep++)
        for (uint32_t i = f->ninsts; i-- > 0;) {
            const struct ptx_inst *inst = &f->insts[i];
            const bool leads = leads_to_comparison(fence, inst);

            for (unsigned k = 0; leads && k < inst->nops; k++)
                if (inst->ops[k].kind == PTX_OPND_REG)
                    fence->compared[inst->ops[k].reg] = true;
        }
}

bool fence_registers_begin(struct fence *fence)
{
    free(fence->forced);
    free(fence->compared);
    fence->forced = calloc((size_t)fence->f->nregs + 1, sizeof(*fence->forced));
    fence->compared = calloc((size_t)fence->f->nregs + 1, sizeof(*fence->compared));
    memset(fence->lows, 0, sizeof(fence->lows));
    fence->stretch = 1;
    fence->nlows = fence->next_low = 0;
    if (!fence->forced || !fence->compared)
        return false;
    find_compared(fence);
    return true;
}

/* ---- Offsets ---- */

/* The lowest offset of this access and of those off the register that follow. */
static int64_t lowest_offset(const struct fence *fence, const struct ptx_mem *mem)
{
    const struct ptx_func *f = fence->f;
    const uint32_t at = (uint32_t)(fence->inst - f->insts);
    int64_t lowest = mem->offset;

    for (uint32_t i = at; i < f->ninsts && i < at + MOST_AHEAD; i++) {
        const struct ptx_mem *next = address_of(fence, &f->insts[i]);

        if (i > at && fence->labelled[i])
            break;
        if (next && next->reg == mem->reg && next->offset < lowest)
            lowest = next->offset;
        if (definitions_writes(&f->insts[i], mem->reg))
            break;
    }
    return lowest;
}

/* The number of what is forced for the register already; FENCE_LOWS: nothing. */
static unsigned find_low(const struct fence *fence, uint32_t reg)
{
    unsigned k = 0;

    while (k < FENCE_LOWS &&
           (fence->lows[k].reg != reg || fence->lows[k].stretch != fence->stretch))
        k++;
    return k;
}

static unsigned force_low(struct fence *fence, const struct ptx_mem *mem, const char *name,
                          int64_t lowest)
{
    const unsigned k = fence->next_low++ % FENCE_LOWS;
    const char *low = edits_text(&fence->edits, "gshare$low%u", k);

    if (fence->nlows <= k) {
        fence->nlows = k + 1;
        edits_insert(&fence->edits, fence->f->body_begin,
                     edits_text(&fence->edits, " .reg .b64 %s;", low));
    }
    fence_before(fence, "add.s64 %s, %s, %lld; " FENCE_FORCE("%s"), low, name, (long long)lowest,
                 low, low);
    fence->lows[k] = (struct fence_low){mem->reg, fence->stretch, lowest};
    return k;
}

/* ---- The access ---- */

bool fence_off_register(struct fence *fence, const struct ptx_mem *mem, const char *name,
                        struct fence_span brackets)
{
    unsigned k;

    if (fence->strays || fence_is_house_function(fence->f) || address_of(fence, fence->inst) != mem)
        return false;
    k = find_low(fence, mem->reg);
    if (k == FENCE_LOWS) {
        const int64_t lowest = lowest_offset(fence, mem);

        if (lowest < 0)
            k = force_low(fence, mem, name, lowest);
    }
    if (k < FENCE_LOWS && mem->offset >= fence->lows[k].low &&
        mem->offset - fence->lows[k].low <= FENCE_OFFSET) {
        fence_replace(fence, brackets,
                      edits_text(&fence->edits, "[gshare$low%u+%lld]", k,
                                 (long long)(mem->offset - fence->lows[k].low)));
        return true;
    }
    if (mem->offset < 0 || fence->inst->guard != PTX_NO_REG || is_parameter(fence->f, mem->reg) ||
        fence->compared[mem->reg])
        return false;
    if (fence->forced[mem->reg] != fence->stretch)
        fence_before(fence, FENCE_FORCE("%s"), name, name);
    fence->forced[mem->reg] = fence->stretch;
    return true;
}

void fence_registers_written(struct fence *fence)
{
    definitions_clear(fence->inst, fence->forced);
    for (unsigned k = 0; k < FENCE_LOWS; k++)
        if (fence->lows[k].stretch == fence->stretch &&
            definitions_writes(fence->inst, fence->lows[k].reg))
            fence->lows[k].stretch = 0;
}

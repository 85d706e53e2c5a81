/* Bases: pointers that stay the same while a loop adds 32-bit indices to them.
 *
 * `p[i]` with an unsigned i has a new address in each iteration of a loop: base + i * 4. Fencing
 * each address took 28% of a naive SGEMM on an H200, whose loop has eight instructions per access.
 * Here the base is fenced once, where it is loaded, and the access goes to
 *
 *     mad.wide.u32 gshare$at, i, 4, gshare$fixed0;
 *
 * which is the code that the compiler makes of the program's own two instructions. Where several
 * sums have one product, it goes to
 *
 *     mul.wide.u32 gshare$at, i, 4; add.s64 gshare$at, gshare$at, gshare$fixed0;
 *
 * since the compiler multiplies once then (layer norm on an H200: 2.8% instead of 3.2%). With two
 * instructions everywhere an SGEMM of unsigned indices would lose 16%.
 *
 * If the factor keeps the product within FENCE_REACH, the access ends there, and the module's
 * report says that it needs that range. Signed indices have no base. They would gain nothing (a
 * sparse product was 2% slower), and a program may add a negative index to a pointer to the end of
 * its memory, which may be the window's end.
 *
 * The fenced base has a register of its own, which holds an address of the window from the
 * function's first instruction on. So the order in which blocks run does not matter.
 *
 * This pays if the access runs more often than the load of the base: in a loop that does not
 * contain the load, or several times. A base must be loaded, not computed: a computed sum may lie
 * outside of the window though the addresses derived from it do not. */
#include <stdlib.h>

#include "ptx/rewrite/definitions.h"
#include "ptx/rewrite/fence.h"

enum {
    MOST_ROOT_STEPS = 4, /* steps back from a base to its load */
    MANY_USES = 4        /* the number of accesses from which a base pays outside of loops */
};

/* The load that alone defines the base; ninsts: the base is computed, or changes. */
static uint32_t loaded_at(const struct fence *fence, uint32_t base)
{
    const struct ptx_func *f = fence->f;
    const struct ptx_inst *first = definitions_only(f, fence->definitions, base), *inst = first;

    for (unsigned step = 0; inst && step < MOST_ROOT_STEPS; step++) {
        if (inst->op == PTX_OP_LD)
            return inst->ops[0].kind == PTX_OPND_REG ? (uint32_t)(first - f->insts) : f->ninsts;
        if ((inst->op != PTX_OP_CVTA || !(inst->flags & PTX_F_TO)) && inst->op != PTX_OP_MOV)
            break;
        if (inst->ops[0].kind != PTX_OPND_REG || inst->ops[1].kind != PTX_OPND_REG)
            break;
        inst = definitions_only(f, fence->definitions, inst->ops[1].reg);
    }
    return f->ninsts;
}

/* ---- The bases of a function ----------------------------------------------------------------- */

static void take_base(struct fence *fence, uint32_t base)
{
    for (unsigned k = 0; k < fence->nbases; k++)
        if (fence->bases[k] == base)
            return;
    if (fence->nbases < FENCE_BASES)
        fence->bases[fence->nbases++] = base;
}

/* Chooses the bases for which this pays. */
static void find_bases(struct fence *fence, uint32_t *uses, uint32_t *last)
{
    const struct ptx_func *f = fence->f;
    const struct ptx_mem *mem;
    struct fence_sum sum;

    for (uint32_t i = 0; i < f->ninsts; i++) {
        uint32_t loaded;

        mem = fence_register_access(fence, &f->insts[i]);
        if (!mem || !fence_sum(fence, i, mem->reg, &sum))
            continue;
        loaded = loaded_at(fence, sum.base);
        if (loaded == f->ninsts)
            continue;
        uses[sum.base] += last[sum.base] != mem->reg + 1;
        last[sum.base] = mem->reg + 1;
        if (fence->loop[i] > loaded + 1 || uses[sum.base] == MANY_USES)
            take_base(fence, sum.base);
    }
}

/* Fences the K-th base behind its definition. */
static void fence_base(struct fence *fence, unsigned k)
{
    const struct ptx_func *f = fence->f;
    const struct ptx_inst *inst = definitions_only(f, fence->definitions, fence->bases[k]);
    char name[256];

    edits_insert(&fence->edits, f->body_begin,
                 edits_text(&fence->edits,
                            " .reg .b64 gshare$fixed%u;"
                            " mov.b64 gshare$fixed%u, {gshare$base, gshare$base};",
                            k, k));
    edits_insert(&fence->edits, inst->end,
                 edits_text(&fence->edits, " " FENCE_FORCE("gshare$fixed%u"),
                            ptx_reg_name(f, fence->bases[k], name, sizeof(name)), k));
}

bool fence_bases_begin(struct fence *fence)
{
    const struct ptx_func *f = fence->f;
    uint32_t *uses, *last;

    fence->nbases = 0;
    if (fence->strays || fence_is_gshare_function(f) || !fence->plain)
        return true;
    uses = calloc((size_t)f->nregs + 1, sizeof(*uses));
    last = calloc((size_t)f->nregs + 1, sizeof(*last));
    if (fence->loop && uses && last)
        find_bases(fence, uses, last);
    free(last);
    free(uses);
    for (unsigned k = 0; k < fence->nbases; k++)
        fence_base(fence, k);
    fence->report->indexed |= fence->nbases != 0;
    return uses && last;
}

bool fence_off_base(struct fence *fence, const struct ptx_mem *mem)
{
    const uint32_t at = (uint32_t)(fence->inst - fence->f->insts);
    struct fence_sum sum;
    char name[256];

    if (!fence->nbases || fence_register_access(fence, fence->inst) != mem ||
        fence->forced[mem->reg] == fence->stretch || !fence_sum(fence, at, mem->reg, &sum) ||
        sum.is_signed)
        return false;
    for (unsigned k = 0; k < fence->nbases; k++) {
        if (fence->bases[k] != sum.base)
            continue;
        ptx_reg_name(fence->f, sum.index, name, sizeof(name));
        if (fence_sum_shares_product(fence, at, &sum))
            fence_before(
                fence,
                "mul.wide.u32 gshare$at, %s, %u; add.s64 gshare$at, gshare$at, gshare$fixed%u; ",
                name, sum.factor, k);
        else
            fence_before(fence, "mad.wide.u32 gshare$at, %s, %u, gshare$fixed%u; ", name,
                         sum.factor, k);
        return true;
    }
    return false;
}

/* Accesses off a register. A forced register serves further accesses off it in the same stretch,
 * the text from one label to the next.
 *
 * If the instruction always runs, the register itself is forced. That does not change an address in
 * the window. An access of at most FENCE_OFFSET off a register, in either direction, that reaches
 * the tenant's memory has its register in the window, because the tenant has no memory in the
 * FENCE_GUARD bytes at the window's ends. (If the instruction does not always run, the register may
 * lead anywhere.) Forcing the pointers of a loop in copies instead cost 6% of a naive SGEMM on an
 * H200, for the moves that align the halves of each copy. But a pointer on which a comparison
 * depends, which may end a loop, is forced in a copy: ptxas does not unroll a loop whose end it
 * cannot tell.
 *
 * Compilers that unroll a loop put the pointer in the middle: [p-8], [p-4], [p], [p+4]. There the
 * lowest address of the stretch is forced, in a register of the fence's own:
 *
 *     add.s64 gshare$low0, p, -8; (gshare$low0 is forced) ... [gshare$low0], [gshare$low0+4] ...
 *
 * With p itself forced, a sparse product was 6% slower: ptxas changed the order of the loads. */
#include <stdlib.h>
#include <string.h>

#include "ptx/rewrite/definitions.h"
#include "ptx/rewrite/fence.h"

enum {
    MOST_AHEAD = 64, /* instructions behind an access that are searched for other accesses */
    SWEEPS = 4       /* rounds over a function to find the registers on which comparisons depend */
};

/* The address of an access that can be fenced by forcing its register; NULL: the instruction is no
 * such access. */
static const struct ptx_mem *address_of(const struct fence *fence, const struct ptx_inst *inst)
{
    const struct ptx_mem *mem = fence_register_access(fence, inst);

    return mem && mem->offset >= -FENCE_OFFSET && mem->offset <= FENCE_OFFSET &&
                   ptx_type_bits(fence->f->regs[mem->reg].type) == 64
               ? mem
               : NULL;
}

static uint32_t at_of(const struct fence *fence)
{
    return (uint32_t)(fence->inst - fence->f->insts);
}

bool fence_is_parameter(const struct ptx_func *f, uint32_t reg)
{
    for (uint32_t i = 0; i < f->nparams; i++)
        if (f->params[i]->space == PTX_SPACE_REG && f->params[i]->offset == reg)
            return true;
    return false;
}

/* ---- What comparisons depend on ---- */

/* Whether the instruction is a comparison, or an addition on whose result a comparison depends. */
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
    free(fence->beyond);
    free(fence->compared);
    fence->beyond = calloc((size_t)fence->f->nregs + 1, sizeof(*fence->beyond));
    fence->forced = calloc((size_t)fence->f->nregs + 1, sizeof(*fence->forced));
    fence->compared = calloc((size_t)fence->f->nregs + 1, sizeof(*fence->compared));
    fence->stretch = 1;
    memset(fence->lows, 0, sizeof(fence->lows));
    fence->nlows = fence->next_low = fence->nstrides = 0;
    if (!fence->forced || !fence->beyond || !fence->compared)
        return false;
    find_compared(fence);
    return true;
}

/* ---- What follows ---- */

/* The accesses off a register, up to the instruction that writes it or the end of the stretch. */
struct ahead {
    bool any, always; /* always: one of them runs whatever the others do */
    int64_t lowest;   /* offset */
};

/* Finds these accesses, from instruction FROM on. */
static struct ahead look_ahead(const struct fence *fence, uint32_t from, uint32_t reg)
{
    const struct ptx_func *f = fence->f;
    const uint32_t at = at_of(fence);
    struct ahead ahead = {.lowest = INT64_MAX};
    bool straight = true;

    for (uint32_t i = from; i < f->ninsts && i < at + MOST_AHEAD; i++) {
        const struct ptx_inst *inst = &f->insts[i];
        const struct ptx_mem *mem = address_of(fence, inst);
        const enum ptx_class class = ptx_op_class(inst->op);

        if (i > at && fence->labelled[i])
            break;
        if (mem && mem->reg == reg) {
            ahead.any = true;
            ahead.always |= straight && inst->guard == PTX_NO_REG;
            ahead.lowest = mem->offset < ahead.lowest ? mem->offset : ahead.lowest;
        }
        if (definitions_writes(inst, reg))
            break;
        straight &= class != PTX_CLASS_BRANCH && class != PTX_CLASS_CALL && class != PTX_CLASS_END;
    }
    return ahead;
}

bool fence_will_be_accessed(const struct fence *fence, uint32_t reg)
{
    return look_ahead(fence, at_of(fence) + 1, reg).any;
}

bool fence_will_always_be_accessed(const struct fence *fence, uint32_t reg)
{
    const struct ahead ahead = look_ahead(fence, at_of(fence) + 1, reg);

    return ahead.always && ahead.lowest >= 0;
}

bool fence_will_be_forced(const struct fence *fence, uint32_t reg)
{
    const struct ahead ahead = look_ahead(fence, at_of(fence) + 1, reg);

    return fence->forced[reg] == fence->stretch ||
           (ahead.always && ahead.lowest >= 0 && !fence->compared[reg] &&
            !fence_is_parameter(fence->f, reg) && !definitions_writes(fence->inst, reg));
}

void fence_force_now(struct fence *fence, uint32_t reg, const char *name)
{
    if (fence->forced[reg] == fence->stretch)
        return;
    fence_before(fence, FENCE_FORCE("%s"), name, name);
    fence->forced[reg] = fence->stretch;
    fence->beyond[reg] = 0;
}

/* ---- Offsets ---- */

/* The number of the low that is already forced for the register; FENCE_LOWS: there is none. */
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

/* Makes the access go off the register's low. False: no access off the register has a negative
 * offset. */
static bool fence_off_low(struct fence *fence, const struct ptx_mem *mem, const char *name,
                          struct fence_span brackets)
{
    unsigned k = find_low(fence, mem->reg);

    if (k == FENCE_LOWS) {
        const int64_t lowest = look_ahead(fence, at_of(fence), mem->reg).lowest;

        if (lowest >= 0)
            return false;
        k = force_low(fence, mem, name, lowest);
    }
    if (mem->offset < fence->lows[k].low || mem->offset - fence->lows[k].low > FENCE_OFFSET)
        return false;
    fence_replace(fence, brackets,
                  edits_text(&fence->edits, "[gshare$low%u+%lld]", k,
                             (long long)(mem->offset - fence->lows[k].low)));
    return true;
}

/* ---- The access ---- */

bool fence_off_register(struct fence *fence, const struct ptx_mem *mem, const char *name,
                        struct fence_span brackets)
{
    const bool forced = fence->forced[mem->reg] == fence->stretch;

    if (fence->strays || fence_is_gshare_function(fence->f) ||
        address_of(fence, fence->inst) != mem)
        return false;
    if (!forced && fence_off_low(fence, mem, name, brackets))
        return true;
    if (!forced && (fence->inst->guard != PTX_NO_REG || fence_is_parameter(fence->f, mem->reg) ||
                    fence->compared[mem->reg]))
        return false;
    fence_force_now(fence, mem->reg, name);
    fence->report->indexed |= fence->beyond[mem->reg] > FENCE_NEAR;
    return true;
}

void fence_registers_written(struct fence *fence, const uint64_t *beyond)
{
    definitions_clear(fence->inst, fence->forced);
    for (unsigned k = 0; k < FENCE_LOWS; k++)
        if (fence->lows[k].stretch == fence->stretch &&
            definitions_writes(fence->inst, fence->lows[k].reg))
            fence->lows[k].stretch = 0;
    if (beyond) {
        fence->forced[fence->inst->ops[0].reg] = fence->stretch;
        fence->beyond[fence->inst->ops[0].reg] = *beyond;
    }
}

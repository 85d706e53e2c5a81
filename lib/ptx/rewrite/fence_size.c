/* How large a function may be. The driver compiles in the worker, and what it takes of memory and
 * time for a function grows with the square of the registers that live at once and of the labels.
 * ptxas 13.0 for sm_90, two and a half minutes at most:
 *
 *     registers that live at once   4,000: 0.5 GiB in 15 s    20,000: more than 6.7 GiB
 *     labels                        8,000: 0.5 GiB in 43 s   100,000: more than 8.3 GiB
 *     instructions                  500,000: 2.0 to more than 2.4 GiB
 *
 * Of the 2,083 functions of test/corpus, test/ptx and lib/cublas none has more than 293 such
 * registers and 2,100 instructions. */
#include <stdlib.h>

#include "ptx/rewrite/fence.h"

enum { MOST_LIVE = 4096, MOST_LABELS = 8192, MOST_INSTRUCTIONS = 1 << 19 };

/* Where a register stands first and last, in the order of the text, from 1; 0: nowhere. */
struct span {
    uint32_t first, last;
};

static void note(struct span *spans, const struct ptx_operand *o, uint32_t at)
{
    uint32_t reg = PTX_NO_REG;

    if (o->kind == PTX_OPND_REG)
        reg = o->reg;
    else if (o->kind == PTX_OPND_MEM && o->mem.base == PTX_BASE_REG)
        reg = o->mem.reg;
    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST) && i < o->count; i++)
        note(spans, &o->list[i], at);
    if (reg == PTX_NO_REG)
        return;
    spans[reg].first = spans[reg].first ? spans[reg].first : at;
    spans[reg].last = at;
}

/* The most registers that stand between their first and their last place at the same time; loops
 * make no more of them. UINT32_MAX: no memory. */
static uint32_t live_most(const struct ptx_func *f)
{
    struct span *spans = calloc((size_t)f->nregs + 1, sizeof(*spans));
    int32_t *change = calloc((size_t)f->ninsts + 2, sizeof(*change));
    int32_t live = 0, most = 0;

    for (uint32_t i = 0; spans && change && i < f->ninsts; i++)
        for (unsigned k = 0; k < f->insts[i].nops; k++)
            note(spans, &f->insts[i].ops[k], i + 1);
    for (uint32_t r = 0; spans && change && r < f->nregs; r++) {
        if (!spans[r].first)
            continue;
        change[spans[r].first]++;
        change[spans[r].last + 1]--;
    }
    for (uint32_t i = 0; spans && change && i <= f->ninsts; i++) {
        live += change[i];
        most = live > most ? live : most;
    }
    if (!spans || !change)
        most = -1;
    free(spans);
    free(change);
    return (uint32_t)most;
}

bool fence_size(struct fence *fence)
{
    const struct ptx_func *f = fence->f;
    uint32_t live;

    if (fence_is_house_function(f))
        return true;
    if (f->ninsts > MOST_INSTRUCTIONS)
        return fence_refuse(fence, f->line, "a function of %u instructions, of at most %u",
                            f->ninsts, MOST_INSTRUCTIONS);
    if (f->nlabels > MOST_LABELS)
        return fence_refuse(fence, f->line, "a function of %u labels, of at most %u", f->nlabels,
                            MOST_LABELS);
    if (f->nregs <= MOST_LIVE)
        return true;
    live = live_most(f);
    if (live == UINT32_MAX)
        return false;
    return live <= MOST_LIVE ||
           fence_refuse(fence, f->line,
                        "a function of which %u registers live at once, of at most %u", live,
                        MOST_LIVE);
}

// Barriers of a block: bar and barrier, with and without thread counts, and their reductions. Lanes
// are counted. A warp whose live lanes have all arrived counts as 32, because the hardware's
// barriers count whole warps.
#include "softcuda/interp/path.h"

static uint32_t warp_counts(const struct warp *w, uint32_t arrived)
{
    return arrived == ALL_LANES || (arrived | w->dead) == ALL_LANES
               ? LANES
               : (uint32_t)__builtin_popcount(arrived);
}

static bool is_complete(const struct exec_block *b, const struct barrier *r)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->nwarps; i++) {
        const struct warp *w = &b->warps[i];
        if (r->threads) {
            if (r->arrived[i])
                count += warp_counts(w, r->arrived[i]);
        } else if ((r->arrived[i] | w->dead) != ALL_LANES) {
            return false;
        }
    }
    return !r->threads || count >= r->threads;
}

static void give_result(struct warp *w, const struct path *p, const struct barrier *r)
{
    const struct insn *in = p->at;
    if (in->run != op_bar_red)
        return;
    u32 *d = (u32 *)(void *)(p->frame->regs + in->d);
    if (in->mode == PTX_BOP_POPC) {
        for (unsigned l = 0; l < LANES; l++)
            if (p->mask >> l & 1)
                d[l] = r->popc;
    } else {
        bool yes = in->mode == PTX_BOP_AND ? r->all : r->any;
        *d = (*d & ~p->mask) | (yes ? p->mask : 0);
    }
    (void)w;
}

static void release(struct exec_block *b, uint32_t id)
{
    struct barrier *r = &b->barriers[id];
    for (uint32_t i = 0; i < b->nwarps; i++)
        for (uint32_t k = 0; k < b->warps[i].npaths; k++) {
            struct path *p = &b->warps[i].paths[k];
            if (p->state != PATH_BARRIER || p->barrier != id)
                continue;
            give_result(&b->warps[i], p, r);
            p->state = PATH_READY;
        }
    *r = (struct barrier){0};
    b->barriers_used--;
}

// ---- The barrier of a cluster: a thread arrives, and waits for all that have not exited

// Whether all threads of a block of the cluster have arrived, or have exited.
static bool block_at_cluster(const struct exec_block *b)
{
    for (uint32_t i = 0; i < b->nwarps; i++)
        if ((b->warps[i].at_cluster | b->warps[i].dead) != ALL_LANES)
            return false;
    return true;
}

static void warp_leaves_cluster(struct warp *w)
{
    w->at_cluster = 0;
    for (uint32_t p = 0; p < w->npaths; p++)
        if (w->paths[p].state == PATH_CLUSTER)
            w->paths[p].state = PATH_READY;
}

static void cluster_recheck(const struct exec_block *b)
{
    if (!b->cluster[0]->cluster_waits)
        return;
    for (uint32_t k = 0; k < b->cluster_size; k++)
        if (!block_at_cluster(b->cluster[k]))
            return;
    b->cluster[0]->cluster_waits = false;
    for (uint32_t k = 0; k < b->cluster_size; k++)
        for (uint32_t i = 0; i < b->nwarps; i++)
            warp_leaves_cluster(&b->cluster[k]->warps[i]);
}

int op_cluster_arrive(struct warp *w, const struct insn *in, uint32_t mask)
{
    (void)in;
    w->at_cluster |= mask;
    w->strong++;
    w->block->cluster[0]->cluster_waits = true;
    cluster_recheck(w->block);
    return STEP_NEXT;
}

int op_cluster_wait(struct warp *w, const struct insn *in, uint32_t mask)
{
    if (!(w->at_cluster & mask)) // all lanes have arrived already
        return STEP_NEXT;
    warp_block_path(w, in, PATH_CLUSTER);
    return STEP_SWITCH;
}

void block_recheck_barriers(struct exec_block *b)
{
    cluster_recheck(b);
    for (uint32_t id = 0; b->barriers_used && id < BLOCK_BARRIERS; id++)
        if (b->barriers[id].used && is_complete(b, &b->barriers[id]))
            release(b, id);
}

// The lanes in MASK arrive. Faults if no hardware has such a barrier.
static int arrive(struct warp *w, const struct insn *in, uint32_t mask, uint32_t *out)
{
    struct exec_block *b = w->block;
    unsigned first = (unsigned)__builtin_ctz(mask);
    uint32_t id = SLOT(u32, w, in->a)[first];
    uint32_t threads = in->b == NO_OPERAND ? 0 : SLOT(u32, w, in->b)[first];
    if (id >= BLOCK_BARRIERS || threads % LANES)
        return warp_fault(w, in, mask, EXEC_FAULT_ILLEGAL_INSTRUCTION, id);
    struct barrier *r = &b->barriers[id];
    if (!r->used) {
        *r = (struct barrier){.used = true, .threads = threads, .all = true};
        b->barriers_used++;
    }
    r->arrived[w->index] |= mask;
    *out = id;
    return STEP_NEXT;
}

static int wait(struct warp *w, const struct insn *in, uint32_t id)
{
    struct exec_block *b = w->block;
    w->paths[w->current].barrier = (uint8_t)id;
    warp_block_path(w, in, PATH_BARRIER);
    if (is_complete(b, &b->barriers[id]))
        release(b, id);
    return STEP_SWITCH;
}

int op_bar_sync(struct warp *w, const struct insn *in, uint32_t mask)
{
    uint32_t id = 0;
    int step = arrive(w, in, mask, &id);
    return step ? step : wait(w, in, id);
}

int op_bar_arrive(struct warp *w, const struct insn *in, uint32_t mask)
{
    uint32_t id = 0;
    int step = arrive(w, in, mask, &id);
    if (!step && is_complete(w->block, &w->block->barriers[id]))
        release(w->block, id);
    return step;
}

int op_bar_red(struct warp *w, const struct insn *in, uint32_t mask)
{
    uint32_t id = 0, p = *SLOT(u32, w, in->c) & mask;
    int step = arrive(w, in, mask, &id);
    if (step)
        return step;
    struct barrier *r = &w->block->barriers[id];
    r->popc += (uint32_t)__builtin_popcount(p);
    r->all &= p == mask;
    r->any |= p != 0;
    return wait(w, in, id);
}

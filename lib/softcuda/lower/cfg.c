// Where the lanes of a divergent branch meet again: at the branch's immediate post-dominator in the
// graph of basic blocks. The iterative algorithm of Cooper, Harvey and Kennedy finds it on the
// reversed graph. A bound on its work keeps hostile graphs from taking long; past the bound,
// branches have no meeting point before the function's end, which is slower but right.
#include <errno.h>
#include <stdlib.h>

#include "softcuda/lower/lower.h"

#define NONE UINT32_MAX

struct graph {
    const struct ptx_func *f;
    uint32_t nblocks;         // the last one is the exit
    uint32_t *block_of;       // by instruction
    uint32_t *first;          // instruction of each block
    uint32_t *succ_at, *succ; // edges of block b: succ[succ_at[b]] .. succ[succ_at[b + 1]]
    uint32_t *pred_at, *pred;
    uint32_t *order; // blocks in reverse postorder of the reversed graph
    uint32_t norder;
    uint32_t *rank; // place in order, NONE where the exit cannot be reached
    uint32_t *ipdom;
};

static void graph_deinit(struct graph *g)
{
    free(g->block_of);
    free(g->first);
    free(g->succ_at);
    free(g->succ);
    free(g->pred_at);
    free(g->pred);
    free(g->order);
    free(g->rank);
    free(g->ipdom);
}

static bool ends_block(const struct ptx_inst *i)
{
    enum ptx_class class = ptx_op_class((enum ptx_op)i->op);
    return class == PTX_CLASS_BRANCH || class == PTX_CLASS_END;
}

static int find_blocks(struct graph *g)
{
    const struct ptx_func *f = g->f;
    bool *leader = calloc(f->ninsts + 1, sizeof *leader);
    g->block_of = calloc(f->ninsts + 1, sizeof *g->block_of);
    g->first = calloc((size_t)f->ninsts + 2, sizeof *g->first);
    if (!leader || !g->block_of || !g->first) {
        free(leader);
        return -ENOMEM;
    }
    leader[0] = true;
    for (uint32_t i = 0; i < f->nlabels; i++)
        leader[f->labels[i].inst] = true;
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (ends_block(&f->insts[i]))
            leader[i + 1] = true;
    for (uint32_t i = 0; i < f->ninsts; i++) {
        if (leader[i])
            g->first[g->nblocks++] = i;
        g->block_of[i] = g->nblocks - 1;
    }
    g->first[g->nblocks] = f->ninsts;
    g->block_of[f->ninsts] = g->nblocks++; // the exit
    free(leader);
    return 0;
}

static uint32_t last_inst(const struct graph *g, uint32_t block)
{
    return g->first[block + 1] - 1;
}

// Calls ADD for each successor; counts them.
static uint32_t successors(const struct graph *g, uint32_t block, uint32_t *out)
{
    uint32_t n = 0, exit = g->nblocks - 1;
    if (block == exit)
        return 0;
    const struct ptx_inst *i = &g->f->insts[last_inst(g, block)];
    bool falls = true;
#define EDGE(to)                                                                                   \
    do {                                                                                           \
        if (out)                                                                                   \
            out[n] = (to);                                                                         \
        n++;                                                                                       \
    } while (0)
    if (i->op == PTX_OP_BRA) {
        EDGE(g->block_of[g->f->labels[i->ops[0].label].inst]);
        falls = i->guard != PTX_NO_REG;
    } else if (i->op == PTX_OP_BRX_IDX) {
        const struct ptx_table *t = &g->f->tables[i->ops[1].table];
        for (uint32_t k = 0; !t->calls && k < t->count; k++)
            EDGE(g->block_of[g->f->labels[t->labels[k]].inst]);
        falls = i->guard != PTX_NO_REG;
    } else if (ptx_op_class((enum ptx_op)i->op) == PTX_CLASS_END) {
        EDGE(exit);
        falls = i->guard != PTX_NO_REG;
    }
    if (falls)
        EDGE(block + 1);
#undef EDGE
    return n;
}

static int find_edges(struct graph *g)
{
    uint64_t total = 0;
    g->succ_at = calloc((size_t)g->nblocks + 1, sizeof *g->succ_at);
    g->pred_at = calloc((size_t)g->nblocks + 2, sizeof *g->pred_at);
    if (!g->succ_at || !g->pred_at)
        return -ENOMEM;
    for (uint32_t b = 0; b < g->nblocks; b++) {
        g->succ_at[b] = (uint32_t)total;
        total += successors(g, b, NULL);
        if (total > 1u << 24)
            return -E2BIG;
    }
    g->succ_at[g->nblocks] = (uint32_t)total;
    g->succ = calloc(total + 1, sizeof *g->succ);
    g->pred = calloc(total + 1, sizeof *g->pred);
    if (!g->succ || !g->pred)
        return -ENOMEM;
    for (uint32_t b = 0; b < g->nblocks; b++)
        successors(g, b, g->succ + g->succ_at[b]);
    for (uint32_t e = 0; e < total; e++)
        g->pred_at[g->succ[e] + 2]++;
    for (uint32_t b = 0; b < g->nblocks; b++)
        g->pred_at[b + 2] += g->pred_at[b + 1];
    for (uint32_t b = 0; b < g->nblocks; b++)
        for (uint32_t e = g->succ_at[b]; e < g->succ_at[b + 1]; e++)
            g->pred[g->pred_at[g->succ[e] + 1]++] = b;
    return 0;
}

// Reverse postorder over predecessors from the exit, with a stack of its own.
static int find_order(struct graph *g)
{
    g->order = calloc(g->nblocks, sizeof *g->order);
    g->rank = malloc(g->nblocks * sizeof *g->rank);
    uint32_t *stack = malloc(g->nblocks * sizeof *stack);
    uint32_t *next = calloc(g->nblocks, sizeof *next);
    if (!g->order || !g->rank || !stack || !next) {
        free(stack);
        free(next);
        return -ENOMEM;
    }
    for (uint32_t b = 0; b < g->nblocks; b++)
        g->rank[b] = NONE;
    uint32_t depth = 1, n = 0, exit = g->nblocks - 1;
    stack[0] = exit;
    g->rank[exit] = 0;
    while (depth) {
        uint32_t b = stack[depth - 1];
        uint32_t e = g->pred_at[b] + next[b];
        if (e < g->pred_at[b + 1]) {
            uint32_t p = g->pred[e];
            next[b]++;
            if (g->rank[p] == NONE) {
                g->rank[p] = 0;
                stack[depth++] = p;
            }
        } else {
            g->order[n++] = b;
            depth--;
        }
    }
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t t = g->order[i];
        g->order[i] = g->order[n - 1 - i];
        g->order[n - 1 - i] = t;
    }
    for (uint32_t i = 0; i < n; i++)
        g->rank[g->order[i]] = i;
    g->norder = n;
    free(stack);
    free(next);
    return 0;
}

// 0; -ENOMEM; -E2BIG when the bound on the work is passed.
static int find_ipdoms(struct graph *g)
{
    uint64_t work = 0, bound = 64ull * g->nblocks + (1u << 22);
    g->ipdom = malloc(g->nblocks * sizeof *g->ipdom);
    if (!g->ipdom)
        return -ENOMEM;
    for (uint32_t b = 0; b < g->nblocks; b++)
        g->ipdom[b] = NONE;
    g->ipdom[g->nblocks - 1] = g->nblocks - 1;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < g->norder; i++) {
            uint32_t b = g->order[i], new = NONE;
            for (uint32_t e = g->succ_at[b]; e < g->succ_at[b + 1]; e++) {
                uint32_t s = g->succ[e];
                if (g->rank[s] == NONE || g->ipdom[s] == NONE)
                    continue;
                if (new == NONE) {
                    new = s;
                    continue;
                }
                while (s != new) {
                    if (++work > bound)
                        return -E2BIG;
                    if (g->rank[s] > g->rank[new])
                        s = g->ipdom[s];
                    else
                        new = g->ipdom[new];
                }
            }
            if (new != g->ipdom[b]) {
                g->ipdom[b] = new;
                changed = true;
            }
        }
    }
    return 0;
}

int lower_find_joins(struct lower *L)
{
    struct graph g = {.f = L->func};
    int error = find_blocks(&g);
    if (!error)
        error = find_edges(&g);
    if (!error)
        error = find_order(&g);
    if (!error)
        error = find_ipdoms(&g);
    for (uint32_t b = 0; !error && b + 1 < g.nblocks; b++) {
        uint32_t i = last_inst(&g, b), meet = g.ipdom[b];
        bool branches =
            L->func->insts[i].op == PTX_OP_BRX_IDX ||
            (L->func->insts[i].op == PTX_OP_BRA && L->func->insts[i].guard != PTX_NO_REG);
        if (!branches || g.rank[b] == NONE || meet == NONE || meet == g.nblocks - 1)
            continue;
        L->join_of[i] = g.first[meet];
        L->is_join[g.first[meet]] = true;
    }
    graph_deinit(&g);
    return error == -E2BIG ? 0 : error;
}

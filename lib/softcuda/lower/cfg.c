// Finds where the lanes of a divergent branch reconverge: at the branch's immediate postdominator
// in the graph of basic blocks. If the graph or the work exceeds a bound, branches reconverge only
// at the function's end, which is slower but correct.
#include <errno.h>
#include <stdlib.h>

#include "ptx/ir/postdom.h"
#include "softcuda/lower/lower.h"

enum { MAX_EDGES = 1 << 24 };

struct graph {
    const struct ptx_func *f;
    uint32_t nblocks;   // the last one is the exit
    uint32_t *block_of; // for each instruction
    uint32_t *first;    // the first instruction of each block
    struct postdom postdom;
};

static void graph_deinit(struct graph *g)
{
    free(g->block_of);
    free(g->first);
    postdom_deinit(&g->postdom);
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

static uint32_t block_at(const struct graph *g, uint32_t label)
{
    return g->block_of[g->f->labels[label].inst];
}

// Adds the edges of a block that is not the exit. False: no memory.
static bool add_successors(struct graph *g, uint32_t block)
{
    const struct ptx_inst *i = &g->f->insts[last_inst(g, block)];
    bool ok = true, leaves = true;

    if (i->op == PTX_OP_BRA) {
        ok = postdom_add(&g->postdom, block_at(g, i->ops[0].label));
    } else if (i->op == PTX_OP_BRX_IDX) {
        const struct ptx_table *t = &g->f->tables[i->ops[1].table];
        for (uint32_t k = 0; !t->calls && k < t->count && ok; k++)
            ok = postdom_add(&g->postdom, block_at(g, t->labels[k]));
    } else if (ptx_op_class((enum ptx_op)i->op) == PTX_CLASS_END) {
        ok = postdom_add(&g->postdom, g->nblocks - 1);
    } else {
        leaves = false;
    }
    return ok && ((leaves && i->guard == PTX_NO_REG) || postdom_add(&g->postdom, block + 1));
}

// Returns 0, -ENOMEM or -E2BIG.
static int find_edges(struct graph *g)
{
    if (!postdom_init(&g->postdom, g->nblocks))
        return -ENOMEM;
    for (uint32_t b = 0; b < g->nblocks; b++) {
        postdom_node(&g->postdom, b);
        if (b + 1 < g->nblocks && !add_successors(g, b))
            return -ENOMEM;
        if (g->postdom.edges > MAX_EDGES)
            return -E2BIG;
    }
    return postdom_reverse(&g->postdom) ? 0 : -ENOMEM;
}

int lower_find_joins(struct lower *L)
{
    struct graph g = {.f = L->func};
    int error = find_blocks(&g);
    if (!error)
        error = find_edges(&g);
    if (!error)
        error = postdom_find(&g.postdom, 64ull * g.nblocks + 16ull * g.postdom.edges + (1u << 22));
    for (uint32_t b = 0; !error && b + 1 < g.nblocks; b++) {
        uint32_t i = last_inst(&g, b), meet = g.postdom.ipdom[b];
        bool branches =
            L->func->insts[i].op == PTX_OP_BRX_IDX ||
            (L->func->insts[i].op == PTX_OP_BRA && L->func->insts[i].guard != PTX_NO_REG);
        if (!branches || meet == POSTDOM_NONE || meet == g.nblocks - 1)
            continue;
        L->join_of[i] = g.first[meet];
        L->is_join[g.first[meet]] = true;
    }
    graph_deinit(&g);
    return error == -E2BIG ? 0 : error;
}

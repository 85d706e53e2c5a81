/* See flow.h. */
#include "ptx/rewrite/flow.h"

#include <errno.h>
#include <stdlib.h>

#include "ptx/ir/postdom.h"

enum {
    MAX_HOPS = 64,   /* branches to branches that are followed */
    STEPS_EACH = 200 /* of postdom_find for each edge; code from compilers takes two or three */
};

/* The nodes are the blocks, then the ends, and last the node that all ends lead to. */
struct flow {
    const struct ptx_func *f;
    const bool *waits; /* for each instruction */
    uint32_t blocks;
    uint32_t *first;    /* the first instruction of each block, and one more at the end */
    uint32_t *block_of; /* for each instruction, and one more at the end */
    bool *block_waits;

    /* Of one check. */
    uint32_t ends;
    struct postdom graph;
    bool *reaches_wait; /* for each node: a wait is reachable from its start */
};

/* ---- Instructions ---- */

bool flow_is_exit(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_RET || inst->op == PTX_OP_EXIT;
}

bool flow_stops(const struct ptx_inst *inst)
{
    return inst->guard == PTX_NO_REG && (flow_is_exit(inst) || inst->op == PTX_OP_BRA ||
                                         inst->op == PTX_OP_BRX_IDX || inst->op == PTX_OP_TRAP);
}

bool flow_leads_to_end(const struct ptx_func *f, uint32_t at)
{
    for (unsigned hops = 0; at < f->ninsts && hops < MAX_HOPS;) {
        const struct ptx_inst *inst = &f->insts[at];

        if (inst->op == PTX_OP_PRAGMA) {
            at++;
        } else if (inst->op == PTX_OP_BRA && inst->guard == PTX_NO_REG) {
            at = f->labels[inst->ops[0].label].inst;
            hops++;
        } else {
            return flow_is_exit(inst) && inst->guard == PTX_NO_REG;
        }
    }
    return at >= f->ninsts;
}

static bool ends_block(const struct ptx_inst *inst)
{
    return flow_is_exit(inst) || inst->op == PTX_OP_BRA || inst->op == PTX_OP_BRX_IDX ||
           inst->op == PTX_OP_TRAP;
}

/* ---- Blocks ---- */

static void find_blocks(struct flow *w)
{
    const struct ptx_func *f = w->f;
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->nlabels; i++)
        w->block_of[f->labels[i].inst] = 1;
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (ends_block(&f->insts[i]))
            w->block_of[i + 1] = 1;
    w->block_of[0] = 1;
    w->block_of[f->ninsts] = 1;
    for (uint32_t i = 0; i <= f->ninsts; i++) {
        if (w->block_of[i])
            w->first[n++] = i;
        w->block_of[i] = n - 1;
    }
    /* The last block has no instruction: it is where labels at the end stand and control falls off.
     */
    w->blocks = n;
    w->first[n] = f->ninsts;
    for (uint32_t i = 0; i < f->ninsts; i++)
        w->block_waits[w->block_of[i]] |= w->waits[i];
}

struct flow *flow_new(const struct ptx_func *f, const bool *waits)
{
    struct flow *w = calloc(1, sizeof(*w));
    size_t n = (size_t)f->ninsts + 2;

    if (!w)
        return NULL;
    w->f = f;
    w->waits = waits;
    w->first = calloc(n, sizeof(*w->first));
    w->block_of = calloc(n, sizeof(*w->block_of));
    w->block_waits = calloc(n, sizeof(*w->block_waits));
    if (!w->first || !w->block_of || !w->block_waits) {
        flow_free(w);
        return NULL;
    }
    find_blocks(w);
    return w;
}

static void forget_check(struct flow *w)
{
    postdom_deinit(&w->graph);
    free(w->reaches_wait);
    w->reaches_wait = NULL;
}

void flow_free(struct flow *w)
{
    if (!w)
        return;
    forget_check(w);
    free(w->first);
    free(w->block_of);
    free(w->block_waits);
    free(w);
}

/* ---- Edges ---- */

/* Adds the edges of the last instruction of a block, unless that is an exit. */
static bool add_branches(struct flow *w, const struct ptx_inst *inst)
{
    const struct ptx_func *f = w->f;
    const struct ptx_table *table;

    if (inst->op == PTX_OP_BRA)
        return postdom_add(&w->graph, w->block_of[f->labels[inst->ops[0].label].inst]);
    if (inst->op != PTX_OP_BRX_IDX)
        return true;
    table = &f->tables[inst->ops[1].table];
    for (uint32_t i = 0; i < table->count; i++)
        if (!postdom_add(&w->graph, w->block_of[f->labels[table->labels[i]].inst]))
            return false;
    return true;
}

static bool find_edges(struct flow *w, const struct flow_exit *exits, uint32_t count)
{
    const struct ptx_func *f = w->f;
    uint32_t next = 0;
    bool ok = true;

    for (uint32_t b = 0; b < w->blocks && ok; b++) {
        uint32_t last = w->first[b + 1] - 1;
        const struct ptx_inst *inst = b + 1 < w->blocks ? &f->insts[last] : NULL;

        postdom_node(&w->graph, b);
        if (!inst)
            last = f->ninsts;
        while (next < count && exits[next].inst < last)
            next++;
        if (next < count && exits[next].inst == last)
            ok = postdom_add(&w->graph, w->blocks + exits[next].end);
        else if (inst)
            ok = add_branches(w, inst);
        if (ok && inst && !flow_stops(inst))
            ok = postdom_add(&w->graph, b + 1);
    }
    for (uint32_t e = 0; e < w->ends && ok; e++) {
        postdom_node(&w->graph, w->blocks + e);
        ok = postdom_add(&w->graph, w->graph.nodes - 1);
    }
    postdom_node(&w->graph, w->graph.nodes - 1);
    return ok;
}

/* ---- What is reached ---- */

static bool spread_waits(struct flow *w)
{
    const struct postdom *graph = &w->graph;
    uint32_t *queue = malloc(graph->nodes * sizeof(*queue));
    uint32_t head = 0, tail = 0;

    if (!queue)
        return false;
    for (uint32_t b = 0; b < w->blocks; b++) {
        w->reaches_wait[b] = w->block_waits[b];
        if (w->block_waits[b])
            queue[tail++] = b;
    }
    for (; head < tail; head++) {
        for (uint32_t i = graph->ins[queue[head]]; i < graph->ins[queue[head] + 1]; i++) {
            if (w->reaches_wait[graph->from[i]])
                continue;
            w->reaches_wait[graph->from[i]] = true;
            queue[tail++] = graph->from[i];
        }
    }
    free(queue);
    return true;
}

/* ---- The check ---- */

/* Whether threads that diverge behind block B may be held at an end while others of them wait. */
static bool is_held(const struct flow *w, uint32_t b)
{
    const struct postdom *graph = &w->graph;
    const uint32_t at = graph->ipdom[b];
    bool waits = false, parts = false;

    if (at == POSTDOM_NONE || at == graph->nodes - 1)
        return false;
    if (at < w->blocks && !flow_leads_to_end(w->f, w->first[at]))
        return false;
    for (uint32_t i = graph->outs[b]; i < graph->outs[b + 1]; i++) {
        waits |= w->reaches_wait[graph->to[i]];
        parts |= graph->to[i] != graph->to[graph->outs[b]];
    }
    return waits && parts;
}

static enum flow_verdict judge(struct flow *w, struct flow_exit *exits, uint32_t count)
{
    enum flow_verdict verdict = FLOW_FREE;

    for (uint32_t b = 0; b < w->blocks; b++)
        if (is_held(w, b))
            verdict = FLOW_HELD;
    for (uint32_t i = 0; i < count; i++)
        exits[i].held = is_held(w, w->block_of[exits[i].inst]);
    return verdict;
}

enum flow_verdict flow_check(struct flow *w, struct flow_exit *exits, uint32_t count, uint32_t ends)
{
    const uint32_t nodes = w->blocks + ends + 1;
    enum flow_verdict verdict = FLOW_NO_MEMORY;
    int met = -ENOMEM;

    forget_check(w);
    w->ends = ends;
    w->reaches_wait = calloc(nodes, sizeof(*w->reaches_wait));
    if (w->reaches_wait && postdom_init(&w->graph, nodes) && find_edges(w, exits, count) &&
        postdom_reverse(&w->graph) && spread_waits(w))
        met = postdom_find(&w->graph, (uint64_t)STEPS_EACH * (w->graph.edges + 1));
    if (met != -ENOMEM)
        verdict = met == 0 ? judge(w, exits, count) : FLOW_UNKNOWN;
    forget_check(w);
    return verdict;
}

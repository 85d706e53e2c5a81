/* See flow.h. Postdominators by the iteration of Cooper, Harvey and Kennedy ("A Simple, Fast
 * Dominance Algorithm"), on the graph turned around. */
#include "ptx/rewrite/flow.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_HOPS = 64,   /* of branches to branches */
    STEPS_EACH = 200 /* steps of the iteration for each edge: compilers' code takes two or three */
};
#define NONE UINT32_MAX

struct edge {
    uint32_t from, to;
};

/* Nodes: the blocks, the ends behind them, and last the one that all ends lead to. */
struct flow {
    const struct ptx_func *f;
    const bool *waits; /* by instruction */
    uint32_t blocks;
    uint32_t *first;    /* instruction of each block, and one more at the end */
    uint32_t *block_of; /* by instruction, one more at the end */
    bool *block_waits;

    /* Of one check. */
    uint32_t nodes, ends;
    struct edge *edges; /* sorted by .from, as the blocks come */
    uint32_t nedges, room;
    uint32_t *outs;     /* by node: its first edge */
    uint32_t *ins;      /* by node: the first of its entries in in_from */
    uint32_t *in_from;  /* where its edges come from */
    uint32_t *order;    /* by node: its place in the walk from the last node, NONE: not met */
    uint32_t *walked;   /* nodes by that place */
    uint32_t *meet;     /* immediate postdominator */
    bool *reaches_wait; /* from the start of the node */
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
    /* The last block has no instruction: labels may stand there, and control falls into it. */
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
    free(w->edges);
    free(w->outs);
    free(w->ins);
    free(w->in_from);
    free(w->order);
    free(w->walked);
    free(w->meet);
    free(w->reaches_wait);
    w->edges = NULL;
    w->outs = w->ins = w->in_from = w->order = w->walked = w->meet = NULL;
    w->reaches_wait = NULL;
    w->nedges = w->room = 0;
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

static bool add_edge(struct flow *w, uint32_t from, uint32_t to)
{
    if (w->nedges == w->room) {
        uint32_t room = w->room ? w->room * 2 : 256;
        struct edge *edges = realloc(w->edges, room * sizeof(*edges));

        if (!edges)
            return false;
        w->edges = edges;
        w->room = room;
    }
    w->edges[w->nedges++] = (struct edge){from, to};
    return true;
}

/* Where the last instruction of block B leads, if it is no way to an end. */
static bool add_branches(struct flow *w, uint32_t b, const struct ptx_inst *inst)
{
    const struct ptx_func *f = w->f;
    const struct ptx_table *table;

    if (inst->op == PTX_OP_BRA)
        return add_edge(w, b, w->block_of[f->labels[inst->ops[0].label].inst]);
    if (inst->op != PTX_OP_BRX_IDX)
        return true;
    table = &f->tables[inst->ops[1].table];
    for (uint32_t i = 0; i < table->count; i++)
        if (!add_edge(w, b, w->block_of[f->labels[table->labels[i]].inst]))
            return false;
    return true;
}

static bool find_edges(struct flow *w, const struct flow_way *ways, uint32_t count)
{
    const struct ptx_func *f = w->f;
    uint32_t way = 0;
    bool ok = true;

    for (uint32_t b = 0; b < w->blocks && ok; b++) {
        uint32_t last = w->first[b + 1] - 1;
        const struct ptx_inst *inst = b + 1 < w->blocks ? &f->insts[last] : NULL;

        w->outs[b] = w->nedges;
        if (!inst)
            last = f->ninsts;
        while (way < count && ways[way].inst < last)
            way++;
        if (way < count && ways[way].inst == last)
            ok = add_edge(w, b, w->blocks + ways[way].end);
        else if (inst)
            ok = add_branches(w, b, inst);
        if (ok && inst && !flow_stops(inst))
            ok = add_edge(w, b, b + 1);
    }
    for (uint32_t e = 0; e < w->ends && ok; e++) {
        w->outs[w->blocks + e] = w->nedges;
        ok = add_edge(w, w->blocks + e, w->nodes - 1);
    }
    w->outs[w->nodes - 1] = w->outs[w->nodes] = w->nedges;
    return ok;
}

static bool turn_edges(struct flow *w)
{
    w->in_from = malloc(((size_t)w->nedges + 1) * sizeof(*w->in_from));
    if (!w->in_from)
        return false;
    for (uint32_t i = 0; i < w->nedges; i++)
        w->ins[w->edges[i].to + 1]++;
    for (uint32_t n = 0; n < w->nodes; n++)
        w->ins[n + 1] += w->ins[n];
    for (uint32_t i = 0; i < w->nedges; i++) /* .order counts what each node has so far */
        w->in_from[w->ins[w->edges[i].to] + w->order[w->edges[i].to]++] = w->edges[i].from;
    return true;
}

/* ---- What is reached ---- */

/* Postorder of the nodes from which the last one is reached, against the edges. .meet holds the
 * next edge of each node on the stack, .reaches_wait which nodes were met: both are free yet. */
static bool walk(struct flow *w)
{
    uint32_t *stack = malloc(w->nodes * sizeof(*stack));
    uint32_t depth = 0, met = 0;

    if (!stack)
        return false;
    for (uint32_t n = 0; n < w->nodes; n++) {
        w->order[n] = NONE;
        w->meet[n] = w->ins[n];
    }
    stack[depth++] = w->nodes - 1;
    w->reaches_wait[w->nodes - 1] = true;
    while (depth) {
        uint32_t n = stack[depth - 1];

        if (w->meet[n] == w->ins[n + 1]) {
            w->walked[met] = n;
            w->order[n] = met++;
            depth--;
            continue;
        }
        uint32_t from = w->in_from[w->meet[n]++];

        if (!w->reaches_wait[from]) {
            w->reaches_wait[from] = true;
            stack[depth++] = from;
        }
    }
    for (uint32_t n = 0; n < w->nodes; n++) {
        w->meet[n] = NONE;
        w->reaches_wait[n] = n < w->blocks && w->block_waits[n];
    }
    free(stack);
    return true;
}

static bool spread_waits(struct flow *w)
{
    uint32_t *queue = malloc(w->nodes * sizeof(*queue));
    uint32_t head = 0, tail = 0;

    if (!queue)
        return false;
    for (uint32_t n = 0; n < w->nodes; n++)
        if (w->reaches_wait[n])
            queue[tail++] = n;
    for (; head < tail; head++) {
        for (uint32_t i = w->ins[queue[head]]; i < w->ins[queue[head] + 1]; i++) {
            if (w->reaches_wait[w->in_from[i]])
                continue;
            w->reaches_wait[w->in_from[i]] = true;
            queue[tail++] = w->in_from[i];
        }
    }
    free(queue);
    return true;
}

/* Where the ways of A and B, which have one, come together. STEPS are counted down. */
static uint32_t common(const struct flow *w, uint32_t a, uint32_t b, uint64_t *steps)
{
    while (a != b && *steps) {
        --*steps;
        if (w->order[a] < w->order[b])
            a = w->meet[a];
        else
            b = w->meet[b];
    }
    return a;
}

static bool find_meetings(struct flow *w)
{
    uint64_t steps = (uint64_t)STEPS_EACH * (w->nedges + 1);
    uint32_t root = w->nodes - 1;
    bool changed = true;

    w->meet[root] = root;
    while (changed && steps) {
        changed = false;
        for (uint32_t i = w->order[root]; i-- > 0 && steps;) {
            uint32_t n = w->walked[i], meet = NONE;

            for (uint32_t k = w->outs[n]; k < w->outs[n + 1]; k++) {
                uint32_t to = w->edges[k].to;

                steps -= steps > 0;
                if (w->meet[to] != NONE)
                    meet = meet == NONE ? to : common(w, meet, to, &steps);
            }
            changed |= meet != w->meet[n];
            w->meet[n] = meet;
        }
    }
    return steps > 0;
}

/* ---- The check ---- */

/* Threads that part behind block B may be held at an end, while others of them wait. */
static bool is_held(const struct flow *w, uint32_t b)
{
    uint32_t at = w->meet[b];
    bool waits = false, parts = false;

    if (at == NONE || at == w->nodes - 1)
        return false;
    if (at < w->blocks && !flow_leads_to_end(w->f, w->first[at]))
        return false;
    for (uint32_t i = w->outs[b]; i < w->outs[b + 1]; i++) {
        waits |= w->reaches_wait[w->edges[i].to];
        parts |= w->edges[i].to != w->edges[w->outs[b]].to;
    }
    return waits && parts;
}

static enum flow_verdict judge(struct flow *w, struct flow_way *ways, uint32_t count)
{
    enum flow_verdict verdict = FLOW_FREE;

    for (uint32_t b = 0; b < w->blocks; b++)
        if (is_held(w, b))
            verdict = FLOW_HELD;
    for (uint32_t i = 0; i < count; i++)
        ways[i].held = is_held(w, w->block_of[ways[i].inst]);
    return verdict;
}

enum flow_verdict flow_check(struct flow *w, struct flow_way *ways, uint32_t count, uint32_t ends)
{
    enum flow_verdict verdict = FLOW_NO_MEMORY;
    size_t n;

    forget_check(w);
    w->ends = ends;
    w->nodes = w->blocks + ends + 1;
    n = (size_t)w->nodes + 1;
    w->outs = calloc(n, sizeof(*w->outs));
    w->ins = calloc(n, sizeof(*w->ins));
    w->order = calloc(n, sizeof(*w->order));
    w->walked = calloc(n, sizeof(*w->walked));
    w->meet = calloc(n, sizeof(*w->meet));
    w->reaches_wait = calloc(n, sizeof(*w->reaches_wait));
    if (w->outs && w->ins && w->order && w->walked && w->meet && w->reaches_wait &&
        find_edges(w, ways, count) && turn_edges(w) && walk(w) && spread_waits(w))
        verdict = find_meetings(w) ? judge(w, ways, count) : FLOW_UNKNOWN;
    forget_check(w);
    return verdict;
}

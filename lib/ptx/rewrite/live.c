/* See live.h. Each register is followed on its own: from the blocks that read it before they write
 * it, through their predecessors, until a block that writes it. */
#include "ptx/rewrite/live.h"
#include "ptx/ptx_table.h"

#include <stdlib.h>

#include "ptx/rewrite/definitions.h"
#include "ptx/rewrite/flow.h"

/* A mention of a register in an instruction. An instruction's reads come before its writes. */
struct mention {
    uint32_t inst;
    enum { READ, WRITTEN, PERHAPS_WRITTEN } how;
};

/* Each field holds 1 + the number of the last register to which it applied. */
struct block {
    uint32_t first, end; /* instructions */
    uint32_t preds;      /* the first of its entries in live.preds */
    uint32_t mentions, writes;
    uint32_t begins; /* the register is live at the block's beginning */
    uint32_t ends;   /* the register is live at the block's end */
};

struct live {
    const struct ptx_func *f;
    uint64_t steps;
    bool exhausted;       /* the steps were too few */
    uint32_t *block_of;   /* for each instruction, and one more */
    struct block *blocks; /* and one more */
    uint32_t nblocks;
    uint32_t *preds; /* the predecessors of the blocks */
    struct mention *mentions;
    size_t *of;      /* for each register, and one more: its first mention */
    int32_t *change; /* for each instruction, and one more: the change of the number of live
                        registers from there on */
    uint32_t *stack; /* of blocks */
    uint32_t depth;
};

/* ---- Blocks ---- */

static void find_blocks(struct live *live)
{
    const struct ptx_func *f = live->f;
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->nlabels; i++)
        live->block_of[f->labels[i].inst] = 1;
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (f->insts[i].op == PTX_OP_BRA || f->insts[i].op == PTX_OP_BRX_IDX ||
            flow_stops(&f->insts[i]))
            live->block_of[i + 1] = 1;
    live->block_of[0] = 1;
    for (uint32_t i = 0; i < f->ninsts; i++) {
        if (live->block_of[i])
            live->blocks[n++].first = i;
        live->blocks[n - 1].end = i + 1;
        live->block_of[i] = n - 1;
    }
    live->block_of[f->ninsts] = n; /* no block: only labels may stand there */
    live->nblocks = n;
}

typedef void edge_visit(struct live *live, uint32_t from, uint32_t to);

static void each_edge(struct live *live, edge_visit *visit)
{
    const struct ptx_func *f = live->f;

    for (uint32_t b = 0; b < live->nblocks; b++) {
        const struct ptx_inst *last = &f->insts[live->blocks[b].end - 1];

        if (last->op == PTX_OP_BRA)
            visit(live, b, live->block_of[f->labels[last->ops[0].label].inst]);
        if (last->op == PTX_OP_BRX_IDX) {
            const struct ptx_table *table = &f->tables[last->ops[1].table];
            for (uint32_t i = 0; i < table->count; i++)
                visit(live, b, live->block_of[f->labels[table->labels[i]].inst]);
        }
        if (!flow_stops(last))
            visit(live, b, b + 1);
    }
}

static void count_pred(struct live *live, uint32_t from, uint32_t to)
{
    (void)from;
    if (to < live->nblocks)
        live->blocks[to].preds++;
}

static void put_pred(struct live *live, uint32_t from, uint32_t to)
{
    if (to < live->nblocks)
        live->preds[--live->blocks[to].preds] = from;
}

static bool find_preds(struct live *live)
{
    struct block *blocks = live->blocks;
    uint32_t sum = 0;

    each_edge(live, count_pred);
    for (uint32_t b = 0; b <= live->nblocks; b++)
        blocks[b].preds = sum += blocks[b].preds;
    live->preds = malloc(((size_t)sum + 1) * sizeof(*live->preds));
    if (live->preds)
        each_edge(live, put_pred);
    return live->preds;
}

/* ---- Mentions ---- */

typedef void mention_visit(struct live *live, uint32_t reg, struct mention mention);

static void each_in_operand(struct live *live, const struct ptx_operand *o, struct mention mention,
                            mention_visit *visit)
{
    if (o->kind == PTX_OPND_REG)
        visit(live, o->reg, mention);
    else if (o->kind == PTX_OPND_MEM && o->mem.base == PTX_BASE_REG)
        visit(live, o->mem.reg, (struct mention){mention.inst, READ});
    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST) && i < o->count; i++)
        each_in_operand(live, &o->list[i], mention, visit);
}

static void each_mention(struct live *live, mention_visit *visit)
{
    for (uint32_t i = 0; i < live->f->ninsts; i++) {
        const struct ptx_inst *inst = &live->f->insts[i];
        const struct mention read = {i, READ},
                             written = {i, inst->guard == PTX_NO_REG ? WRITTEN : PERHAPS_WRITTEN};

        if (inst->guard != PTX_NO_REG)
            visit(live, inst->guard, read);
        for (unsigned k = 0; k < inst->nops; k++)
            if (!ptx_operand_written(inst, k))
                each_in_operand(live, &inst->ops[k], read, visit);
        for (unsigned k = 0; k < inst->nops; k++)
            if (ptx_operand_written(inst, k))
                each_in_operand(live, &inst->ops[k], written, visit);
    }
}

static void count_mention(struct live *live, uint32_t reg, struct mention mention)
{
    (void)mention;
    live->of[reg + 1]++;
}

static void put_mention(struct live *live, uint32_t reg, struct mention mention)
{
    live->mentions[live->of[reg]++] = mention;
}

static bool find_mentions(struct live *live)
{
    const uint32_t nregs = live->f->nregs;

    each_mention(live, count_mention);
    for (uint32_t r = 0; r < nregs; r++)
        live->of[r + 1] += live->of[r];
    live->mentions = malloc((live->of[nregs] + 1) * sizeof(*live->mentions));
    if (!live->mentions)
        return false;
    each_mention(live, put_mention);
    for (uint32_t r = nregs; r > 0; r--) /* each one has become the beginning of the next */
        live->of[r] = live->of[r - 1];
    live->of[0] = 0;
    return true;
}

static struct block *block_of(const struct live *live, const struct mention *mention)
{
    return &live->blocks[live->block_of[mention->inst]];
}

/* The end of the mentions that are in the same block as the first one. */
static const struct mention *same_block(const struct live *live, const struct mention *m,
                                        const struct mention *end)
{
    const struct block *block = block_of(live, m);

    while (m < end && m->inst < block->end)
        m++;
    return m;
}

/* ---- Registers ---- */

static void count(struct live *live, uint32_t reg, uint32_t from, uint32_t to)
{
    const unsigned bits = ptx_type_bits((enum ptx_type)live->f->regs[reg].type);
    const int32_t words = bits > 32 ? (int32_t)bits / 32 : 1;

    live->change[from] += words;
    live->change[to] -= words;
}

static void begins_live(struct live *live, struct block *block, uint32_t reg)
{
    if (block->begins == reg + 1)
        return;
    block->begins = reg + 1;
    live->stack[live->depth++] = (uint32_t)(block - live->blocks);
}

/* Finds where the register is live, starting from the blocks on the stack, at whose beginning it
 * is. */
static void follow(struct live *live, uint32_t reg)
{
    while (live->depth > 0) {
        const struct block *block = &live->blocks[live->stack[--live->depth]];

        for (uint32_t i = block->preds; i < block[1].preds; i++) {
            struct block *pred = &live->blocks[live->preds[i]];

            if (live->steps == 0) {
                live->exhausted = true;
                return;
            }
            live->steps--;
            if (pred->ends == reg + 1)
                continue;
            pred->ends = reg + 1;
            if (pred->mentions != reg + 1)
                count(live, reg, pred->first, pred->end);
            if (pred->writes != reg + 1)
                begins_live(live, pred, reg);
        }
    }
}

/* Notes what the mentions in a block do with the register. */
static void note_block(struct live *live, uint32_t reg, const struct mention *m,
                       const struct mention *end)
{
    struct block *block = block_of(live, m);

    block->mentions = reg + 1;
    for (; m < end && block->writes != reg + 1; m++) {
        if (m->how == READ)
            begins_live(live, block, reg);
        else if (m->how == WRITTEN)
            block->writes = reg + 1;
    }
}

/* Counts the register in a block that mentions it. */
static void count_block(struct live *live, uint32_t reg, const struct mention *m,
                        const struct mention *end)
{
    const struct block *block = block_of(live, m);
    bool is_live = block->ends == reg + 1;
    uint32_t until = block->end;

    while (end-- > m) {
        if (!is_live)
            until = end->inst + 1;
        is_live = end->how == READ || (end->how == PERHAPS_WRITTEN && is_live);
        if (!is_live)
            count(live, reg, end->inst, until);
    }
    if (is_live)
        count(live, reg, block->first, until);
}

static void take_register(struct live *live, uint32_t reg)
{
    const struct mention *first = &live->mentions[live->of[reg]];
    const struct mention *end = &live->mentions[live->of[reg + 1]], *m, *next;

    for (m = first; m < end; m = next)
        note_block(live, reg, m, next = same_block(live, m, end));
    follow(live, reg);
    for (m = first; m < end && !live->exhausted; m = next)
        count_block(live, reg, m, next = same_block(live, m, end));
}

static uint32_t most_of(const struct live *live)
{
    int32_t now = 0, most = 0;

    for (uint32_t i = 0; i < live->f->ninsts; i++) {
        now += live->change[i];
        most = now > most ? now : most;
    }
    return (uint32_t)most;
}

bool live_most(const struct ptx_func *f, uint64_t *steps, uint32_t *most)
{
    const size_t n = (size_t)f->ninsts + 2;
    struct live live = {.f = f,
                        .steps = *steps,
                        .block_of = calloc(n, sizeof(*live.block_of)),
                        .blocks = calloc(n, sizeof(*live.blocks)),
                        .of = calloc((size_t)f->nregs + 1, sizeof(*live.of)),
                        .change = calloc(n, sizeof(*live.change)),
                        .stack = calloc(n, sizeof(*live.stack))};
    bool done = false;

    if (live.block_of && live.blocks && live.of && live.change && live.stack) {
        find_blocks(&live);
        done = find_preds(&live) && find_mentions(&live);
    }
    for (uint32_t r = 0; r < f->nregs && done && !live.exhausted; r++)
        take_register(&live, r);
    *steps = live.steps;
    if (done)
        *most = live.exhausted ? UINT32_MAX : most_of(&live);
    free(live.block_of);
    free(live.blocks);
    free(live.preds);
    free(live.mentions);
    free(live.of);
    free(live.change);
    free(live.stack);
    return done;
}

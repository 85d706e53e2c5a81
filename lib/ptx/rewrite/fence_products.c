/* Products of warpgroups (wgmma), which are asynchronous: their sums are written after the
 * instruction.
 *
 * The compiler keeps the registers of a product free until the program waits for its group. It is
 * undocumented what happens if the program touches them earlier, and one of them could hold a
 * fenced address. So in fenced code no path leads from a product to an instruction that mentions
 * one of its registers, or to an end, a call, an indirect jump or setmaxnreg, without a wait. If a
 * path does, these instructions are inserted:
 *
 *     wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
 *
 * A wait for all but the last N groups lets those continue, as the loops of Hopper's libraries do.
 */
#include <stdlib.h>

#include "ptx/rewrite/fence.h"
#include "ptx/rewrite/flow.h"

enum {
    SETS = 64,  /* sets of registers: one for each product's list; the last one is shared by all
                   further lists */
    AGES = 4,   /* of groups */
    SWEEPS = 64 /* passes over a function until the state no longer changes */
};

/* Values of fence.waits. */
enum {
    NO_WAIT,
    WAIT,           /* for groups that the program has committed */
    COMMIT_AND_WAIT /* and for products that are in no group yet */
};

/* The sets of registers that products in progress write, or read a matrix from, at one place of a
 * function. */
struct under_way {
    uint64_t open;       /* sets of products that are in no group yet */
    uint64_t aged[AGES]; /* sets of groups behind which 0, 1 ... others were committed; the last
                            element: or more */
    bool begun;          /* on every path here, a product is in no group yet */
};

struct analysis {
    const struct fence *fence;
    const struct ptx_func *f;
    uint8_t *set_of; /* for each register: 1 + its set; 0: it is in no product */
    const struct ptx_operand *list_of[SETS]; /* the list for which a set was made */
    unsigned sets;
    uint64_t mixed;       /* sets that share a register with another list */
    struct under_way *at; /* for each instruction that has a label */
    bool changed;
};

/* ---- Sets of registers ---- */

static bool same_registers(const struct ptx_operand *a, const struct ptx_operand *b)
{
    bool same = a->count == b->count;

    for (uint32_t i = 0; same && i < a->count; i++)
        same = a->list[i].kind == PTX_OPND_REG && b->list[i].kind == PTX_OPND_REG &&
               a->list[i].reg == b->list[i].reg;
    return same;
}

static uint64_t set_of(const struct analysis *a, uint32_t reg)
{
    return a->set_of[reg] ? UINT64_C(1) << (a->set_of[reg] - 1) : 0;
}

/* The sets that contain registers of the operand. */
static uint64_t sets_of(const struct analysis *a, const struct ptx_operand *o)
{
    uint64_t sets = 0;

    if (o->kind == PTX_OPND_REG)
        return set_of(a, o->reg);
    if (o->kind == PTX_OPND_MEM && o->mem.base == PTX_BASE_REG)
        return set_of(a, o->mem.reg);
    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST) && i < o->count; i++)
        sets |= sets_of(a, &o->list[i]);
    return sets;
}

/* The set that was made for exactly this list of sums; 0: there is none, or it shares a register
 * with another list. */
static uint64_t own_set(const struct analysis *a, const struct ptx_operand *list)
{
    const uint64_t sets = sets_of(a, list) & ~a->mixed;

    for (unsigned s = 0; s < a->sets; s++)
        if (sets == UINT64_C(1) << s && same_registers(list, a->list_of[s]))
            return sets;
    return 0;
}

/* Puts the registers that have no set yet into the list's set. */
static void take_list(struct analysis *a, const struct ptx_operand *list)
{
    const uint64_t others = sets_of(a, list);
    bool made = false;

    for (uint32_t i = 0; i < list->count; i++) {
        if (list->list[i].kind != PTX_OPND_REG || a->set_of[list->list[i].reg])
            continue;
        if (!made && a->sets < SETS)
            a->list_of[a->sets++] = list;
        made = true;
        a->set_of[list->list[i].reg] = (uint8_t)a->sets;
    }
    if (others || (made && a->list_of[a->sets - 1] != list))
        a->mixed |= sets_of(a, list);
}

static void take_lists(struct analysis *a)
{
    for (uint32_t i = 0; i < a->f->ninsts; i++) {
        const struct ptx_inst *inst = &a->f->insts[i];

        if (inst->op != PTX_OP_WGMMA)
            continue;
        if (!own_set(a, &inst->ops[0]))
            take_list(a, &inst->ops[0]);
        if (inst->ops[1].kind == PTX_OPND_VEC) {
            take_list(a, &inst->ops[1]);
            a->mixed |= sets_of(a, &inst->ops[1]);
        }
    }
}

/* ---- The paths through a function ---- */

static uint64_t all_of(const struct under_way *now)
{
    uint64_t all = now->open;

    for (unsigned k = 0; k < AGES; k++)
        all |= now->aged[k];
    return all;
}

static void join(struct analysis *a, uint32_t at, const struct under_way *now)
{
    struct under_way *have = &a->at[at];
    const struct under_way before = *have;

    have->open |= now->open;
    have->begun &= now->begun;
    a->changed |= have->open != before.open || have->begun != before.begun;
    for (unsigned k = 0; k < AGES; k++) {
        have->aged[k] |= now->aged[k];
        a->changed |= have->aged[k] != before.aged[k];
    }
}

static void commit(struct under_way *now)
{
    /* An empty group might not count. */
    if (now->begun) {
        now->aged[AGES - 1] |= now->aged[AGES - 2];
        for (unsigned k = AGES - 2; k > 0; k--)
            now->aged[k] = now->aged[k - 1];
        now->aged[0] = 0;
    }
    now->aged[0] |= now->open;
    now->open = 0;
    now->begun = false;
}

/* The sets that must not be in progress where the instruction runs. */
static uint64_t touched(const struct analysis *a, const struct ptx_inst *inst)
{
    const enum ptx_class class = ptx_op_class(inst->op);
    uint64_t sets = 0;

    if (class == PTX_CLASS_END || class == PTX_CLASS_CALL || inst->op == PTX_OP_BRX_IDX ||
        inst->op == PTX_OP_SETMAXNREG)
        return UINT64_MAX;
    for (unsigned k = 0; k < inst->nops; k++)
        sets |= sets_of(a, &inst->ops[k]);
    /* A product may add to the sums of the one before it: only these two write the registers. */
    if (inst->op == PTX_OP_WGMMA)
        sets &= ~own_set(a, &inst->ops[0]);
    return sets;
}

static void step(struct analysis *a, uint32_t i, struct under_way *now)
{
    const struct ptx_inst *inst = i < a->f->ninsts ? &a->f->insts[i] : NULL;
    uint8_t *wait = &a->fence->waits[i];

    /* A wait that was added stays, so that the analysis is monotonic. */
    if (*wait != NO_WAIT || (all_of(now) & (inst ? touched(a, inst) : UINT64_MAX))) {
        if (*wait != COMMIT_AND_WAIT)
            *wait = now->open ? COMMIT_AND_WAIT : WAIT;
        *now = (struct under_way){0};
    }
    if (!inst)
        return;
    if (inst->op == PTX_OP_WGMMA) {
        now->open |= sets_of(a, &inst->ops[0]);
        if (inst->ops[1].kind == PTX_OPND_VEC)
            now->open |= sets_of(a, &inst->ops[1]);
        now->begun = true;
    } else if (inst->op == PTX_OP_WGMMA_COMMIT) {
        commit(now);
    } else if (inst->op == PTX_OP_WGMMA_WAIT) {
        for (uint64_t k = inst->ops[0].imm; k < AGES; k++)
            now->aged[k] = 0;
    }
}

static void branch(struct analysis *a, const struct ptx_inst *inst, const struct under_way *now)
{
    if (inst->op == PTX_OP_BRA)
        join(a, a->f->labels[inst->ops[0].label].inst, now);
    if (inst->op == PTX_OP_BRX_IDX) {
        const struct ptx_table *table = &a->f->tables[inst->ops[1].table];

        for (uint32_t i = 0; i < table->count; i++)
            join(a, a->f->labels[table->labels[i]].inst, now);
    }
}

/* No path has reached the instruction yet. */
static const struct under_way nowhere = {.begun = true};

static void sweep(struct analysis *a)
{
    struct under_way now = {0};

    for (uint32_t i = 0; i <= a->f->ninsts; i++) {
        if (a->fence->labelled[i]) {
            join(a, i, &now);
            now = a->at[i];
        }
        step(a, i, &now);
        if (i == a->f->ninsts)
            break;
        branch(a, &a->f->insts[i], &now);
        if (flow_stops(&a->f->insts[i]))
            now = nowhere;
    }
}

static bool has_products(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (f->insts[i].op == PTX_OP_WGMMA)
            return true;
    return false;
}

static bool find_waits(struct fence *fence, struct analysis *a)
{
    unsigned sweeps = 0;

    for (uint32_t i = 0; i <= fence->f->ninsts; i++)
        a->at[i] = nowhere;
    take_lists(a);
    do {
        a->changed = false;
        sweep(a);
    } while (a->changed && ++sweeps < SWEEPS);
    return !a->changed || fence_refuse(fence, fence->f->line,
                                       "its products of warpgroups: the "
                                       "branches are too tangled");
}

/* ---- The pass ---- */

bool fence_products_begin(struct fence *fence)
{
    const size_t n = (size_t)fence->f->ninsts + 1;
    struct analysis a = {.fence = fence, .f = fence->f};
    bool done;

    free(fence->waits);
    fence->waits = NULL;
    if (!has_products(fence->f))
        return true;
    fence->waits = calloc(n, sizeof(*fence->waits));
    a.set_of = calloc((size_t)fence->f->nregs + 1, sizeof(*a.set_of));
    a.at = calloc(n, sizeof(*a.at));
    done = fence->waits && a.set_of && a.at && find_waits(fence, &a);
    free(a.set_of);
    free(a.at);
    return done;
}

bool fence_products(struct fence *fence, uint32_t i)
{
    const struct ptx_inst *inst = i < fence->f->ninsts ? &fence->f->insts[i] : NULL;

    if (inst && ptx_op_class(inst->op) == PTX_CLASS_WGMMA && inst->guard != PTX_NO_REG)
        return fence_refuse(fence, inst->line, "%s: with a predicate", ptx_op_name(inst->op));
    if (fence->waits && fence->waits[i] != NO_WAIT)
        edits_insert(&fence->edits, inst ? inst->begin : fence->f->body_end,
                     fence->waits[i] == WAIT
                         ? "wgmma.wait_group.sync.aligned 0; "
                         : "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; ");
    return true;
}

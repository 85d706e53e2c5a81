/* The checker's part for products of warpgroups: rule 9 of fence_check.c. A dataflow analysis over
 * all paths through a function: each register of a product has the age of the youngest product in
 * progress that may use it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/rewrite/fence_check.h"

enum {
    MOST_CELLS = 1 << 26, /* of all states */
    MOST_WORK = 1 << 30   /* instructions and cells examined, in a module */
};

/* The age of a register. */
enum {
    OPEN, /* its product is in no group yet */
    LAST, /* its product is in the last group; LAST + 1: in the group before that, and so on */
    MOST_AGE = 9,    /* its product is in this group or an older one */
    DONE = UINT8_MAX /* it belongs to no product, or to one that was waited for */
};

struct state {
    uint8_t *ages; /* by the number of a register */
    bool filled;   /* on every path, some product is in no group yet */
};

struct products {
    struct checker *c;
    const struct ptx_func *f;
    uint32_t *numbers; /* for each register: 1 + its number among the registers of products; 0: it
                          is in none */
    uint32_t count;
    const struct ptx_operand **sums; /* by number: the list of sums that contains the register, if
                                        products use it in no other way */
    uint32_t *label_number; /* for each instruction: 1 + its number among those with a label */
    uint32_t label_count;
    struct state *at, now; /* by that number */
    uint8_t *ages;         /* of all states */
    bool changed;
};

/* ---- Registers of products ---- */

/* Whether the two lists have the same registers in the same order. */
static bool is_same_list(const struct ptx_operand *a, const struct ptx_operand *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->list[i].kind != PTX_OPND_REG || b->list[i].kind != PTX_OPND_REG ||
            a->list[i].reg != b->list[i].reg)
            return false;
    return true;
}

static void number_registers(struct products *p, const struct ptx_operand *list)
{
    for (uint32_t i = 0; list->kind == PTX_OPND_VEC && i < list->count; i++)
        if (list->list[i].kind == PTX_OPND_REG && !p->numbers[list->list[i].reg])
            p->numbers[list->list[i].reg] = ++p->count;
}

static void note_list(struct products *p, const struct ptx_operand *list, bool sums)
{
    static const struct ptx_operand several = {.kind = PTX_OPND_NONE};

    for (uint32_t i = 0; list->kind == PTX_OPND_VEC && i < list->count; i++) {
        const struct ptx_operand **only;

        if (list->list[i].kind != PTX_OPND_REG)
            continue;
        only = &p->sums[p->numbers[list->list[i].reg] - 1];
        if (!sums || (*only && (*only == &several || !is_same_list(*only, list))))
            *only = &several;
        else
            *only = list;
    }
}

/* ---- One instruction ---- */

/* Whether the register belongs to a product that may be in progress, and that is not a product with
 * exactly these sums. */
static bool is_taken(const struct products *p, uint32_t reg, const struct ptx_operand *sums)
{
    const uint32_t n = p->numbers[reg];

    if (!n || p->now.ages[n - 1] == DONE)
        return false;
    return !sums || p->sums[n - 1]->kind != PTX_OPND_VEC || !is_same_list(p->sums[n - 1], sums);
}

static bool has_taken(const struct products *p, const struct ptx_operand *o,
                      const struct ptx_operand *sums)
{
    if (o->kind == PTX_OPND_REG)
        return is_taken(p, o->reg, sums);
    if (o->kind == PTX_OPND_MEM)
        return o->mem.base == PTX_BASE_REG && is_taken(p, o->mem.reg, sums);
    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST) && i < o->count; i++)
        if (has_taken(p, &o->list[i], sums))
            return true;
    return false;
}

static bool all_done(const struct products *p)
{
    p->c->product_work += p->count;
    for (uint32_t n = 0; n < p->count; n++)
        if (p->now.ages[n] != DONE)
            return false;
    return true;
}

/* Whether the instruction leaves the products alone that may be in progress. */
static bool is_harmless(const struct products *p, const struct ptx_inst *inst)
{
    const enum ptx_class class = ptx_op_class(inst->op);

    if (class == PTX_CLASS_CALL || class == PTX_CLASS_END || inst->op == PTX_OP_BRX_IDX ||
        inst->op == PTX_OP_SETMAXNREG)
        return all_done(p);
    for (unsigned k = 0; k < inst->nops; k++)
        if (has_taken(p, &inst->ops[k], inst->op == PTX_OP_WGMMA && !k ? &inst->ops[0] : NULL))
            return false;
    return true;
}

static const char *fault_of(const struct products *p, const struct ptx_inst *inst)
{
    if (!is_harmless(p, inst))
        return "a product may be under way";
    if (ptx_op_class(inst->op) != PTX_CLASS_WGMMA)
        return NULL;
    if (inst->guard != PTX_NO_REG)
        return "it may run or not";
    return inst->op == PTX_OP_WGMMA || inst->op == PTX_OP_WGMMA_COMMIT ||
                   inst->op == PTX_OP_WGMMA_WAIT || inst->op == PTX_OP_WGMMA_FENCE
               ? NULL
               : "not on the list";
}

static void begin_product(struct products *p, const struct ptx_operand *list)
{
    for (uint32_t i = 0; list->kind == PTX_OPND_VEC && i < list->count; i++)
        if (list->list[i].kind == PTX_OPND_REG)
            p->now.ages[p->numbers[list->list[i].reg] - 1] = OPEN;
}

static void commit(struct products *p)
{
    p->c->product_work += p->count;
    for (uint32_t n = 0; n < p->count; n++) {
        uint8_t *age = &p->now.ages[n];

        /* A group that may be empty makes no earlier group older. */
        if (*age == OPEN || (p->now.filled && *age < MOST_AGE))
            ++*age;
    }
    p->now.filled = false;
}

/* Waits for all groups but the last ones; BUT is their number. */
static void wait_for(struct products *p, uint64_t but)
{
    p->c->product_work += p->count;
    for (uint32_t n = 0; n < p->count; n++)
        if (p->now.ages[n] >= LAST && (uint64_t)p->now.ages[n] - LAST >= but)
            p->now.ages[n] = DONE;
}

static void run(struct products *p, const struct ptx_inst *inst)
{
    switch (inst->op) {
    case PTX_OP_WGMMA:
        begin_product(p, &inst->ops[0]);
        begin_product(p, &inst->ops[1]);
        p->now.filled = true;
        break;
    case PTX_OP_WGMMA_COMMIT:
        commit(p);
        break;
    case PTX_OP_WGMMA_WAIT:
        wait_for(p, inst->ops[0].imm);
        break;
    default:
        break;
    }
}

/* ---- All paths ---- */

static void copy(const struct products *p, struct state *to, const struct state *from)
{
    to->filled = from->filled;
    memcpy(to->ages, from->ages, p->count);
}

/* Merges the current state into the state at instruction I, where control may go. */
static void lead_to(struct products *p, uint32_t i)
{
    struct state *there = &p->at[p->label_number[i] - 1];

    p->c->product_work += p->count;
    for (uint32_t n = 0; n < p->count; n++)
        if (p->now.ages[n] < there->ages[n]) {
            there->ages[n] = p->now.ages[n];
            p->changed = true;
        }
    p->changed |= there->filled && !p->now.filled;
    there->filled &= p->now.filled;
}

static void begin_nowhere(struct products *p)
{
    p->c->product_work += p->count;
    memset(p->now.ages, DONE, p->count);
    p->now.filled = true;
}

static void lead_on(struct products *p, const struct ptx_inst *inst)
{
    const enum ptx_class class = ptx_op_class(inst->op);
    const struct ptx_table *table =
        inst->op == PTX_OP_BRX_IDX ? &p->f->tables[inst->ops[1].table] : NULL;

    if (inst->op == PTX_OP_BRA)
        lead_to(p, p->f->labels[inst->ops[0].label].inst);
    for (uint32_t k = 0; table && k < table->count && p->c->product_work <= MOST_WORK; k++)
        lead_to(p, p->f->labels[table->labels[k]].inst);
    if (inst->guard == PTX_NO_REG && (class == PTX_CLASS_BRANCH || class == PTX_CLASS_END))
        begin_nowhere(p);
}

/* Goes over the function once. JUDGES: reports what is wrong. False: something is wrong, or the
 * work is too much, and it was reported. */
static bool sweep(struct products *p, bool judges)
{
    begin_nowhere(p);
    p->now.filled = false;
    p->changed = false;
    for (uint32_t i = 0;; i++) {
        const char *wrong;

        if (++p->c->product_work > MOST_WORK)
            return checker_fails(p->c, UINT32_MAX, "the ways of products are too tangled");
        if (p->label_number[i]) {
            lead_to(p, i);
            copy(p, &p->now, &p->at[p->label_number[i] - 1]);
        }
        if (i == p->f->ninsts)
            return !judges || all_done(p) ||
                   checker_fails(p->c, UINT32_MAX, "a product may be under way");
        wrong = judges ? fault_of(p, &p->f->insts[i]) : NULL;
        if (wrong)
            return checker_fails(p->c, i, wrong);
        run(p, &p->f->insts[i]);
        lead_on(p, &p->f->insts[i]);
    }
}

static bool check_paths(struct products *p)
{
    for (uint32_t i = 0; i <= p->label_count; i++) {
        struct state *s = i < p->label_count ? &p->at[i] : &p->now;

        s->ages = p->ages + (size_t)i * p->count;
        s->filled = true;
    }
    memset(p->ages, DONE, ((size_t)p->label_count + 1) * p->count);
    do {
        if (!sweep(p, false))
            return false;
    } while (p->changed);
    return sweep(p, true);
}

static int find_registers(struct products *p)
{
    const struct ptx_func *f = p->f;

    for (uint32_t i = 0; i < f->ninsts; i++)
        for (unsigned k = 0; f->insts[i].op == PTX_OP_WGMMA && k < 2; k++)
            number_registers(p, &f->insts[i].ops[k]);
    for (uint32_t i = 0; i < f->nlabels; i++)
        if (!p->label_number[f->labels[i].inst])
            p->label_number[f->labels[i].inst] = ++p->label_count;
    if (((uint64_t)p->label_count + 1) * p->count > MOST_CELLS)
        return -EPERM;
    p->sums = calloc((size_t)p->count + 1, sizeof(*p->sums));
    p->at = calloc((size_t)p->label_count + 1, sizeof(*p->at));
    p->ages = malloc(((size_t)p->label_count + 1) * p->count + 1);
    if (!p->sums || !p->at || !p->ages)
        return -ENOMEM;
    for (uint32_t i = 0; i < f->ninsts; i++)
        for (unsigned k = 0; f->insts[i].op == PTX_OP_WGMMA && k < 2; k++)
            note_list(p, &f->insts[i].ops[k], k == 0);
    return 0;
}

static bool has_products(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (ptx_op_class(f->insts[i].op) == PTX_CLASS_WGMMA)
            return true;
    return false;
}

int checker_products(struct checker *c)
{
    struct products p = {.c = c, .f = c->f};
    int result = -ENOMEM;

    if (!has_products(c->f))
        return 0;
    p.numbers = calloc((size_t)c->f->nregs + 1, sizeof(*p.numbers));
    p.label_number = calloc((size_t)c->f->ninsts + 1, sizeof(*p.label_number));
    if (p.numbers && p.label_number)
        result = find_registers(&p);
    if (result == -EPERM)
        checker_fails(c, UINT32_MAX, "too many products and labels");
    if (!result && !check_paths(&p))
        result = -EPERM;
    free(p.numbers);
    free(p.label_number);
    free(p.sums);
    free(p.at);
    free(p.ages);
    return result;
}

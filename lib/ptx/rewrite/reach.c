/* See reach.h. */
#include "ptx/rewrite/reach.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ROUNDS 64u /* nested calls that reach_is_deep follows */

static uint32_t target(const struct ptx_func *f)
{
    return f->alias ? f->alias->id : f->id;
}

static void add_call(struct reach *r, uint32_t from, uint32_t to)
{
    if (r->count == r->room) {
        size_t room = r->room ? r->room * 2 : 64;
        struct reach_call *calls = realloc(r->calls, room * sizeof(*calls));

        if (!calls) {
            r->failed = true;
            return;
        }
        r->calls = calls;
        r->room = room;
    }
    r->calls[r->count++] = (struct reach_call){from, to};
}

static void take_address(struct reach *r, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPND_FUNC)
        r->taken[target(o->func)] = true;
    if (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST)
        for (uint32_t i = 0; i < o->count; i++)
            take_address(r, &o->list[i]);
}

static void take_instruction(struct reach *r, const struct ptx_func *f, const struct ptx_inst *inst)
{
    const bool call = inst->op == PTX_OP_CALL;

    for (unsigned i = 0; i < inst->nops; i++) {
        const struct ptx_operand *o = &inst->ops[i];

        if (call && i == 1 && o->kind == PTX_OPND_FUNC)
            add_call(r, f->id, target(o->func));
        else if (call && i == 1)
            add_call(r, f->id, r->nodes - 1);
        else
            take_address(r, o);
    }
}

static void take_variables(struct reach *r, struct ptx_var *const *vars, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < vars[i]->nrelocs; k++)
            if (vars[i]->relocs[k].func)
                r->taken[target(vars[i]->relocs[k].func)] = true;
}

/* The last node stands for all indirect calls. */
void reach_init(struct reach *r, const struct ptx_module *m)
{
    memset(r, 0, sizeof(*r));
    r->nodes = m->nfuncs + 1;
    r->taken = calloc(r->nodes, sizeof(*r->taken));
    if (!r->taken) {
        r->failed = true;
        return;
    }
    take_variables(r, m->vars, m->nvars);
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];

        take_variables(r, f->vars, f->nvars);
        for (uint32_t k = 0; k < f->ninsts; k++)
            take_instruction(r, f, &f->insts[k]);
        for (uint32_t k = 0; k < f->ntables; k++)
            for (uint32_t n = 0; f->tables[k].calls && n < f->tables[k].count; n++)
                r->taken[target(f->tables[k].funcs[n])] = true;
    }
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (r->taken[i])
            add_call(r, r->nodes - 1, i);
}

void reach_deinit(struct reach *r)
{
    free(r->calls);
    free(r->taken);
    memset(r, 0, sizeof(*r));
}

/* Callers by callee: those of node n are callers[first[n]] to callers[first[n + 1] - 1]. */
static void sort_callers(const struct reach *r, uint32_t *first, uint32_t *callers)
{
    for (size_t i = 0; i < r->count; i++)
        first[r->calls[i].to + 1]++;
    for (uint32_t n = 0; n < r->nodes; n++)
        first[n + 1] += first[n];
    for (size_t i = r->count; i-- > 0;) {
        uint32_t *next = &first[r->calls[i].to + 1];

        callers[--*next] = r->calls[i].from;
    }
    /* first[n + 1] has been counted down to the beginning of n's callers, which belongs into
     * first[n]. */
    memmove(first, first + 1, r->nodes * sizeof(*first));
    first[r->nodes] = (uint32_t)r->count;
}

void reach_spread(struct reach *r, uint32_t *cause)
{
    uint32_t *first = calloc((size_t)r->nodes + 2, sizeof(*first));
    uint32_t *callers = malloc((r->count + 1) * sizeof(*callers));
    uint32_t *queue = malloc(r->nodes * sizeof(*queue));
    uint32_t head = 0, tail = 0, indirect = REACH_NONE;

    if (!first || !callers || !queue) {
        r->failed = true;
        goto out;
    }
    sort_callers(r, first, callers);
    for (uint32_t n = 0; n + 1 < r->nodes; n++)
        if (cause[n] != REACH_NONE)
            queue[tail++] = n;
    while (head < tail) {
        uint32_t at = queue[head++];
        uint32_t why = at == r->nodes - 1 ? indirect : cause[at];

        for (uint32_t i = first[at]; i < first[at + 1]; i++) {
            uint32_t *of = callers[i] == r->nodes - 1 ? &indirect : &cause[callers[i]];

            if (*of != REACH_NONE)
                continue;
            *of = why;
            queue[tail++] = callers[i];
        }
    }
out:
    free(first);
    free(callers);
    free(queue);
}

/* A node changes at most twice: from none to one, and from one to several. */
static void pass_owners(const struct reach *r, const uint32_t *first, const uint32_t *callees,
                        uint32_t *queue, uint32_t *owner)
{
    uint32_t tail = 0, indirect = REACH_NONE;

    for (uint32_t n = 0; n + 1 < r->nodes; n++)
        if (owner[n] != REACH_NONE)
            queue[tail++] = n;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t at = queue[head], from = at == r->nodes - 1 ? indirect : owner[at];

        for (uint32_t i = first[at]; i < first[at + 1]; i++) {
            uint32_t *of = callees[i] == r->nodes - 1 ? &indirect : &owner[callees[i]];

            if (*of == from || *of == REACH_SEVERAL)
                continue;
            *of = *of == REACH_NONE ? from : REACH_SEVERAL;
            queue[tail++] = callees[i];
        }
    }
}

static void turn_round(struct reach *r)
{
    for (size_t i = 0; i < r->count; i++)
        r->calls[i] = (struct reach_call){r->calls[i].to, r->calls[i].from};
}

void reach_owner(struct reach *r, uint32_t *owner)
{
    uint32_t *first = calloc((size_t)r->nodes + 2, sizeof(*first));
    uint32_t *callees = malloc((r->count + 1) * sizeof(*callees));
    uint32_t *queue = malloc(3 * (size_t)r->nodes * sizeof(*queue));

    if (first && callees && queue) {
        turn_round(r);
        sort_callers(r, first, callees);
        turn_round(r);
        pass_owners(r, first, callees, queue, owner);
    } else {
        r->failed = true;
    }
    free(first);
    free(callees);
    free(queue);
}

/* Ends all nodes that call only nodes that have ended. Returns their number. */
static uint32_t end_nodes(const struct reach *r, bool *ended, bool *waits)
{
    uint32_t count = 0;

    memset(waits, 0, r->nodes * sizeof(*waits));
    for (size_t i = 0; i < r->count; i++)
        waits[r->calls[i].from] |= !ended[r->calls[i].to];
    for (uint32_t i = 0; i < r->nodes; i++) {
        count += !ended[i] && !waits[i];
        ended[i] |= !waits[i];
    }
    return count;
}

bool reach_is_deep(struct reach *r)
{
    bool *ended = calloc(2 * (size_t)r->nodes + 1, sizeof(*ended)), deep = false;
    uint32_t left = r->nodes, now;

    if (!ended) {
        r->failed = true;
        return false;
    }
    for (size_t i = 0; i < r->count; i++)
        deep |= r->calls[i].to == r->nodes - 1; /* by address */
    for (unsigned round = 0; left && !deep; round++) {
        now = end_nodes(r, ended, ended + r->nodes);
        left -= now;
        deep = !now || round == MOST_ROUNDS;
    }
    free(ended);
    return deep;
}

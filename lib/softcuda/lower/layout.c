// The layout of shared memory. Variables that several functions may name (those of the module, and
// those of non-entry functions) have one place for all kernels, behind what the hardware reserves
// of each block; an entry's own follow behind the last common one that it can reach, and unsized
// ones (dynamic shared memory) behind all. Works on the PTX, before anything is lowered; follows
// direct calls, and takes an indirect one to reach every function.
#include "softcuda/lower/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/device/device.h"

enum {
    SHARED_LIMIT = BLOCK_SHARED_MAX,
    STACK_LIMIT = 1 << 20,
    CLOSURE_ROUNDS = 64, // longest chain of calls that is followed exactly
};

struct reach {
    uint64_t shared_end; // of the common variables that it names, then that it can reach
    uint32_t stack;      // bytes that its calls take
    uint32_t *callees;
    uint32_t ncallees, room;
    bool unbounded; // indirect calls, alloca
    bool indirect;
};

struct shared_layout {
    const struct ptx_module *module;
    uint64_t *module_at;  // by module->vars
    uint64_t *func_base;  // by function: where its own variables begin
    uint64_t *func_bytes; // of them
    struct reach *reach;  // by function
    uint64_t common_end;
    uint32_t dynamic_align; // of the unsized variables
};

static uint64_t align_up(uint64_t x, uint64_t to)
{
    return to > 1 ? (x + to - 1) / to * to : x;
}

static bool is_sized_shared(const struct ptx_var *v)
{
    return v->space == PTX_SPACE_SHARED && !v->unsized;
}

// The variables of F behind one another from START; AT may be NULL. Returns the end.
static uint64_t place_own(const struct ptx_func *f, uint64_t start, uint64_t *at)
{
    for (uint32_t i = 0; i < f->nvars; i++) {
        const struct ptx_var *v = f->vars[i];
        if (!is_sized_shared(v) || v->size > SHARED_LIMIT)
            continue;
        start = align_up(start, v->align);
        if (at)
            at[i] = start;
        start += v->size;
    }
    return start;
}

static bool reach_add(struct reach *r, uint32_t callee)
{
    if (r->ncallees == r->room) {
        uint32_t room = r->room ? r->room * 2 : 4;
        uint32_t *grown = realloc(r->callees, room * sizeof *grown);
        if (!grown)
            return false;
        r->callees = grown;
        r->room = room;
    }
    r->callees[r->ncallees++] = callee;
    return true;
}

static void name_var(const struct shared_layout *s, struct reach *r, const struct ptx_var *v)
{
    if (!v || !is_sized_shared(v))
        return;
    uint64_t end = !v->func         ? s->module_at[v->id] + v->size
                   : v->func->entry ? 0
                                    : s->func_base[v->func->id] + s->func_bytes[v->func->id];
    if (end > r->shared_end)
        r->shared_end = end;
}

static void name_operand(const struct shared_layout *s, struct reach *r,
                         const struct ptx_operand *o)
{
    if (o->kind == PTX_OPND_SYM)
        name_var(s, r, o->sym.var);
    else if (o->kind == PTX_OPND_MEM && o->mem.base == PTX_BASE_VAR)
        name_var(s, r, o->mem.var);
    else if (o->kind == PTX_OPND_VEC)
        for (uint32_t i = 0; i < o->count; i++)
            if (o->list[i].kind == PTX_OPND_SYM)
                name_var(s, r, o->list[i].sym.var);
}

static bool scan_func(const struct shared_layout *s, const struct ptx_func *f, struct reach *r)
{
    for (uint32_t i = 0; i < f->ninsts; i++) {
        const struct ptx_inst *inst = &f->insts[i];
        for (uint32_t k = 0; k < inst->nops; k++)
            name_operand(s, r, &inst->ops[k]);
        if (inst->op == PTX_OP_ALLOCA)
            r->unbounded = true;
        if (inst->op != PTX_OP_CALL)
            continue;
        for (uint32_t k = 0; k < inst->nops; k++) {
            const struct ptx_operand *o = &inst->ops[k];
            if (o->kind == PTX_OPND_REG)
                r->indirect = r->unbounded = true;
            if (o->kind != PTX_OPND_FUNC)
                continue;
            const struct ptx_func *callee = o->func->alias ? o->func->alias : o->func;
            if (!reach_add(r, callee->id))
                return false;
        }
    }
    return true;
}

// What a function reaches is what its callees reach: repeated until nothing changes.
static void close_reach(struct shared_layout *s)
{
    const struct ptx_module *m = s->module;
    for (int round = 0; round < CLOSURE_ROUNDS; round++) {
        bool changed = false;
        for (uint32_t i = 0; i < m->nfuncs; i++) {
            struct reach *r = &s->reach[i];
            for (uint32_t k = 0; k < r->ncallees; k++) {
                const struct reach *c = &s->reach[r->callees[k]];
                if (c->shared_end > r->shared_end || (c->unbounded && !r->unbounded) ||
                    (c->indirect && !r->indirect)) {
                    r->shared_end = c->shared_end > r->shared_end ? c->shared_end : r->shared_end;
                    r->unbounded |= c->unbounded;
                    r->indirect |= c->indirect;
                    changed = true;
                }
            }
        }
        if (!changed)
            return;
    }
    for (uint32_t i = 0; i < m->nfuncs; i++)
        s->reach[i].indirect = s->reach[i].unbounded = true;
}

static int place_common(struct shared_layout *s, char *log, size_t log_size)
{
    const struct ptx_module *m = s->module;
    uint64_t end = BLOCK_SHARED_RESERVED;
    for (uint32_t i = 0; i < m->nvars; i++) {
        const struct ptx_var *v = m->vars[i];
        if (v->space == PTX_SPACE_SHARED && v->unsized && v->align > s->dynamic_align &&
            v->align <= 1024)
            s->dynamic_align = v->align;
        if (!is_sized_shared(v))
            continue;
        if (v->size > SHARED_LIMIT) {
            snprintf(log, log_size, "%s, line %u: more than %u bytes of shared memory", v->name,
                     v->line, SHARED_LIMIT);
            return -E2BIG;
        }
        s->module_at[i] = align_up(end, v->align);
        end = s->module_at[i] + v->size;
    }
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];
        if (f->entry)
            continue;
        s->func_base[i] = align_up(end, 16);
        uint64_t stop = place_own(f, s->func_base[i], NULL);
        s->func_bytes[i] = stop - s->func_base[i];
        end = s->func_bytes[i] ? stop : end;
    }
    s->common_end = end;
    return 0;
}

static int check_kernels(struct shared_layout *s, char *log, size_t log_size)
{
    for (uint32_t i = 0; i < s->module->nfuncs; i++) {
        const struct ptx_func *f = s->module->funcs[i];
        for (uint32_t k = 0; k < f->nvars; k++)
            if (is_sized_shared(f->vars[k]) && f->vars[k]->size > SHARED_LIMIT)
                goto too_big;
        if (!f->entry)
            continue;
        uint64_t reached = s->reach[i].indirect ? s->common_end : s->reach[i].shared_end;
        s->func_base[i] = reached ? align_up(reached, 16) : BLOCK_SHARED_RESERVED;
        uint64_t end = place_own(f, s->func_base[i], NULL);
        s->func_bytes[i] = end - s->func_base[i];
        if (end - BLOCK_SHARED_RESERVED > SHARED_LIMIT)
            goto too_big;
        continue;
    too_big:
        snprintf(log, log_size, "%s, line %u: more than %u bytes of static shared memory", f->name,
                 f->line, SHARED_LIMIT);
        return -E2BIG;
    }
    return 0;
}

int shared_layout_new(const struct ptx_module *m, struct shared_layout **out, char *log,
                      size_t log_size)
{
    struct shared_layout *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->module = m;
    s->dynamic_align = 16;
    s->module_at = calloc(m->nvars + 1, sizeof *s->module_at);
    s->func_base = calloc(m->nfuncs + 1, sizeof *s->func_base);
    s->func_bytes = calloc(m->nfuncs + 1, sizeof *s->func_bytes);
    s->reach = calloc(m->nfuncs + 1, sizeof *s->reach);
    int error = s->module_at && s->func_base && s->func_bytes && s->reach
                    ? place_common(s, log, log_size)
                    : -ENOMEM;
    for (uint32_t i = 0; !error && i < m->nfuncs; i++)
        if (!scan_func(s, m->funcs[i], &s->reach[i]))
            error = -ENOMEM;
    if (!error) {
        close_reach(s);
        error = check_kernels(s, log, log_size);
    }
    if (error) {
        shared_layout_free(s);
        return error;
    }
    *out = s;
    return 0;
}

void shared_layout_free(struct shared_layout *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; s->reach && i < s->module->nfuncs; i++)
        free(s->reach[i].callees);
    free(s->reach);
    free(s->module_at);
    free(s->func_base);
    free(s->func_bytes);
    free(s);
}

uint64_t *shared_layout_take(struct shared_layout *s)
{
    uint64_t *at = s->module_at;
    s->module_at = NULL;
    return at;
}

void shared_layout_func(const struct shared_layout *s, const struct ptx_func *f, uint64_t *at)
{
    place_own(f, s->func_base[f->id], at);
}

void shared_layout_kernel(const struct shared_layout *s, const struct ptx_func *f,
                          struct kernel_layout *out)
{
    uint64_t end = s->func_base[f->id] + s->func_bytes[f->id];
    out->static_shared = (uint32_t)end - BLOCK_SHARED_RESERVED;
    out->dynamic_shared = (uint32_t)align_up(end, s->dynamic_align);
}

void shared_layout_spread(const struct shared_layout *s, uint32_t *whom)
{
    bool changed = true;
    uint32_t any = LACKS_NOTHING;
    for (uint32_t i = 0; i < s->module->nfuncs; i++)
        any = s->module->funcs[i]->entry || whom[i] == LACKS_NOTHING ? any : whom[i];
    for (uint32_t i = 0; i < s->module->nfuncs; i++)
        whom[i] = whom[i] == LACKS_NOTHING && s->reach[i].indirect ? any : whom[i];
    // A longer chain of calls ends in a function without code, which is a fault at run time.
    for (int round = 0; changed && round < CLOSURE_ROUNDS; round++) {
        changed = false;
        for (uint32_t i = 0; i < s->module->nfuncs; i++)
            for (uint32_t k = 0; whom[i] == LACKS_NOTHING && k < s->reach[i].ncallees; k++) {
                whom[i] = whom[s->reach[i].callees[k]];
                changed |= whom[i] != LACKS_NOTHING;
            }
    }
}

// A call takes the callee's local memory and what the callee's own calls take. True: some
// function's stack grew. LAST: a stack that grows in this round grows without end, by recursion.
static bool grow_stacks(struct shared_layout *s, const struct exec_program *p, bool last)
{
    bool changed = false;
    for (uint32_t i = 0; i < s->module->nfuncs; i++) {
        struct reach *r = &s->reach[i];
        for (uint32_t k = 0; k < r->ncallees; k++) {
            const struct reach *callee = &s->reach[r->callees[k]];
            const struct code *c = p->codes[r->callees[k]];
            uint32_t need = c ? c->local_bytes + CALL_STACK_BYTES + callee->stack : 0;
            bool unbounded = callee->unbounded || need > STACK_LIMIT || (last && need > r->stack);
            if (need > STACK_LIMIT)
                need = STACK_LIMIT;
            changed |= need > r->stack || (unbounded && !r->unbounded);
            r->stack = need > r->stack ? need : r->stack;
            r->unbounded |= unbounded;
        }
    }
    return changed;
}

void shared_layout_close_stacks(struct shared_layout *s, const struct exec_program *p)
{
    for (int round = 0; round < 2 * CLOSURE_ROUNDS; round++)
        if (!grow_stacks(s, p, round >= CLOSURE_ROUNDS))
            return;
}

bool shared_layout_stack(const struct shared_layout *s, const struct ptx_func *f, uint32_t *bytes)
{
    *bytes = s->reach[f->id].stack;
    return !s->reach[f->id].unbounded;
}

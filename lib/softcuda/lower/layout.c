// The layout of shared memory. Variables that several functions may name (those of the module, and
// those of non-entry functions) have the same place for all kernels, behind the memory that the
// hardware reserves in each block. Two variables that no kernel reaches both may share a place: a
// module linked from many files has the variables of all their kernels. An entry's own variables
// follow behind the last common one that it can reach, and unsized ones (dynamic shared memory)
// behind all. This works on the PTX, before anything is lowered. It follows direct calls, and
// assumes that an indirect call may reach every function that is no entry. The same walk finds the
// most bytes of variable arguments that a function is given.
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
    WALK_STEPS = 1 << 24 // functions, calls and names that are followed for all kernels together
};

struct list {
    uint32_t *at, count, room;
};

// An object has one place in shared memory. It is a variable of the module, numbered by its index,
// or all variables of a non-entry function, numbered by the function's index behind those.
struct reach {
    struct list callees, objects; // those that the function calls and names
    uint32_t stack;               // stack bytes of its calls
    bool unbounded;               // there are indirect calls or alloca
    bool indirect;                // it may call every function
};

struct shared_layout {
    const struct ptx_module *module;
    uint64_t *module_at;    // by module->vars
    uint64_t *func_base;    // by function: where its own variables begin
    uint64_t *func_bytes;   // of them
    struct reach *reach;    // by function
    uint64_t *end;          // for each function: the end of the objects that the kernel can reach
    uint32_t *variadic;     // for each function: the most bytes for its parameter without a size
    uint32_t variadic_any;  // as above, by indirect calls, which may call any function
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

// Places the variables of F one behind the other from START; AT may be NULL. Returns the end.
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

static bool list_add(struct list *list, uint32_t item)
{
    if (list->count == list->room) {
        uint32_t room = list->room ? list->room * 2 : 4;
        uint32_t *grown = realloc(list->at, room * sizeof *grown);
        if (!grown)
            return false;
        list->at = grown;
        list->room = room;
    }
    list->at[list->count++] = item;
    return true;
}

static bool name_var(const struct shared_layout *s, struct reach *r, const struct ptx_var *v)
{
    if (!v || !is_sized_shared(v) || (v->func && v->func->entry))
        return true;
    return list_add(&r->objects, v->func ? s->module->nvars + v->func->id : v->id);
}

static bool name_operand(const struct shared_layout *s, struct reach *r,
                         const struct ptx_operand *o)
{
    bool good = true;
    if (o->kind == PTX_OPND_SYM)
        good = name_var(s, r, o->sym.var);
    else if (o->kind == PTX_OPND_MEM && o->mem.base == PTX_BASE_VAR)
        good = name_var(s, r, o->mem.var);
    else if (o->kind == PTX_OPND_VEC)
        for (uint32_t i = 0; good && i < o->count; i++)
            good = o->list[i].kind != PTX_OPND_SYM || name_var(s, r, o->list[i].sym.var);
    return good;
}

// The variable arguments of a call are its last argument, a .param array.
static void note_variadic(const struct ptx_inst *call, uint32_t *most)
{
    const struct ptx_operand *args = &call->ops[2], *last;
    if (call->nops < 3 || args->kind != PTX_OPND_LIST || !args->count)
        return;
    last = &args->list[args->count - 1];
    if (last->kind == PTX_OPND_MEM && last->mem.base == PTX_BASE_VAR && last->mem.var->size > *most)
        *most = last->mem.var->size > STACK_LIMIT ? STACK_LIMIT : (uint32_t)last->mem.var->size;
}

static bool scan_func(struct shared_layout *s, const struct ptx_func *f, struct reach *r)
{
    for (uint32_t i = 0; i < f->ninsts; i++) {
        const struct ptx_inst *inst = &f->insts[i];
        for (uint32_t k = 0; k < inst->nops; k++)
            if (!name_operand(s, r, &inst->ops[k]))
                return false;
        if (inst->op == PTX_OP_ALLOCA)
            r->unbounded = true;
        if (inst->op != PTX_OP_CALL)
            continue;
        for (uint32_t k = 0; k < inst->nops; k++) {
            const struct ptx_operand *o = &inst->ops[k];
            if (o->kind == PTX_OPND_REG) {
                r->indirect = r->unbounded = true;
                note_variadic(inst, &s->variadic_any);
            }
            if (o->kind != PTX_OPND_FUNC)
                continue;
            const struct ptx_func *callee = o->func->alias ? o->func->alias : o->func;
            note_variadic(inst, &s->variadic[callee->id]);
            if (!list_add(&r->callees, callee->id))
                return false;
        }
    }
    return true;
}

// Adds to a function's reach that of its callees. Returns whether it has grown.
static bool extend_reach(const struct shared_layout *s, struct reach *r)
{
    const bool unbounded = r->unbounded, indirect = r->indirect;
    for (uint32_t k = 0; k < r->callees.count; k++) {
        const struct reach *callee = &s->reach[r->callees.at[k]];
        r->unbounded |= callee->unbounded;
        r->indirect |= callee->indirect;
    }
    return r->unbounded != unbounded || r->indirect != indirect;
}

// Extends the reach of all functions until nothing changes.
static void close_reach(struct shared_layout *s)
{
    const struct ptx_module *m = s->module;
    for (int round = 0; round < CLOSURE_ROUNDS; round++) {
        bool changed = false;
        for (uint32_t i = 0; i < m->nfuncs; i++)
            changed |= extend_reach(s, &s->reach[i]);
        if (!changed)
            return;
    }
    for (uint32_t i = 0; i < m->nfuncs; i++)
        s->reach[i].indirect = s->reach[i].unbounded = true;
}

// A walk that finds which kernels reach which objects.
struct walk {
    uint32_t *met;       // by function, then by object: 1 + the kernel that has met it last
    uint32_t *newest;    // by object: 1 + its newest pair
    struct list kernel;  // by pair
    struct list older;   // by pair: 1 + the object's one before it
    struct list pending; // functions that the kernel reaches, yet to be looked at
    uint64_t steps;
};

static void walk_free(struct walk *w)
{
    free(w->met);
    free(w->newest);
    free(w->kernel.at);
    free(w->older.at);
    free(w->pending.at);
}

static bool meet(uint32_t *met, uint32_t kernel)
{
    bool before = *met == kernel + 1;
    *met = kernel + 1;
    return !before;
}

static bool walk_object(struct walk *w, uint32_t object, uint32_t kernel)
{
    if (!list_add(&w->kernel, kernel) || !list_add(&w->older, w->newest[object]))
        return false;
    w->newest[object] = w->kernel.count;
    return true;
}

static bool walk_kernel(const struct shared_layout *s, struct walk *w, uint32_t kernel)
{
    uint32_t *met_object = w->met + s->module->nfuncs;
    meet(&w->met[kernel], kernel);
    if (!list_add(&w->pending, kernel))
        return false;
    w->steps += s->reach[kernel].indirect ? s->module->nfuncs : 0;
    for (uint32_t i = 0; s->reach[kernel].indirect && i < s->module->nfuncs; i++)
        if (!s->module->funcs[i]->entry && meet(&w->met[i], kernel) && !list_add(&w->pending, i))
            return false;
    while (w->pending.count) {
        const struct reach *r = &s->reach[w->pending.at[--w->pending.count]];
        w->steps += 1 + r->callees.count + r->objects.count;
        for (uint32_t i = 0; i < r->callees.count; i++)
            if (meet(&w->met[r->callees.at[i]], kernel) && !list_add(&w->pending, r->callees.at[i]))
                return false;
        for (uint32_t i = 0; i < r->objects.count; i++)
            if (meet(&met_object[r->objects.at[i]], kernel) &&
                !walk_object(w, r->objects.at[i], kernel))
                return false;
    }
    return true;
}

// Places the object behind all objects that some kernel reaches together with it. Returns its end.
static uint64_t place_object(struct shared_layout *s, uint32_t object, uint64_t from)
{
    const struct ptx_module *m = s->module;
    if (object < m->nvars) {
        s->module_at[object] = align_up(from, m->vars[object]->align);
        return s->module_at[object] + m->vars[object]->size;
    }
    uint32_t i = object - m->nvars;
    s->func_base[i] = align_up(from, 16);
    uint64_t end = place_own(m->funcs[i], s->func_base[i], NULL);
    s->func_bytes[i] = end - s->func_base[i];
    return end;
}

static bool is_object(const struct ptx_module *m, uint32_t object)
{
    return object < m->nvars ? is_sized_shared(m->vars[object])
                             : !m->funcs[object - m->nvars]->entry;
}

// If kernels and calls are too many to follow, assumes that each kernel reaches all objects.
static bool place_objects(struct shared_layout *s, struct walk *w)
{
    const struct ptx_module *m = s->module;
    uint64_t all_end = BLOCK_SHARED_RESERVED;
    for (uint32_t i = 0; i < m->nfuncs && w->steps <= WALK_STEPS; i++) {
        s->end[i] = BLOCK_SHARED_RESERVED;
        if (m->funcs[i]->entry && !walk_kernel(s, w, i))
            return false;
    }
    const bool all = w->steps > WALK_STEPS;
    for (uint32_t object = 0; object < m->nvars + m->nfuncs; object++) {
        if (!is_object(m, object))
            continue;
        uint64_t end = all ? all_end : BLOCK_SHARED_RESERVED;
        for (uint32_t pair = w->newest[object]; pair; pair = w->older.at[pair - 1])
            end = s->end[w->kernel.at[pair - 1]] > end ? s->end[w->kernel.at[pair - 1]] : end;
        end = place_object(s, object, end);
        for (uint32_t pair = w->newest[object]; pair; pair = w->older.at[pair - 1])
            s->end[w->kernel.at[pair - 1]] = end;
        all_end = end > all_end ? end : all_end;
    }
    for (uint32_t i = 0; all && i < m->nfuncs; i++)
        s->end[i] = all_end;
    return true;
}

static int place_common(struct shared_layout *s, char *log, size_t log_size)
{
    const struct ptx_module *m = s->module;
    const size_t objects = (size_t)m->nvars + m->nfuncs;
    for (uint32_t i = 0; i < m->nvars; i++) {
        const struct ptx_var *v = m->vars[i];
        if (v->space == PTX_SPACE_SHARED && v->unsized && v->align > s->dynamic_align &&
            v->align <= 1024)
            s->dynamic_align = v->align;
        if (is_sized_shared(v) && v->size > SHARED_LIMIT) {
            snprintf(log, log_size, "%s, line %u: more than %u bytes of shared memory", v->name,
                     v->line, SHARED_LIMIT);
            return -E2BIG;
        }
    }
    struct walk w = {.met = calloc(m->nfuncs + objects + 1, sizeof *w.met),
                     .newest = calloc(objects + 1, sizeof *w.newest)};
    bool good = w.met && w.newest && place_objects(s, &w);
    walk_free(&w);
    return good ? 0 : -ENOMEM;
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
        s->func_base[i] = align_up(s->end[i], 16);
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
    s->end = calloc(m->nfuncs + 1, sizeof *s->end);
    s->variadic = calloc(m->nfuncs + 1, sizeof *s->variadic);
    int error = s->module_at && s->func_base && s->func_bytes && s->reach && s->end && s->variadic
                    ? 0
                    : -ENOMEM;
    for (uint32_t i = 0; !error && i < m->nfuncs; i++)
        if (!scan_func(s, m->funcs[i], &s->reach[i]))
            error = -ENOMEM;
    if (!error) {
        close_reach(s);
        error = place_common(s, log, log_size);
    }
    if (!error)
        error = check_kernels(s, log, log_size);
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
    for (uint32_t i = 0; s->reach && i < s->module->nfuncs; i++) {
        free(s->reach[i].callees.at);
        free(s->reach[i].objects.at);
    }
    free(s->reach);
    free(s->end);
    free(s->variadic);
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

uint32_t shared_layout_variadic(const struct shared_layout *s, const struct ptx_func *f)
{
    return s->variadic[f->id] > s->variadic_any ? s->variadic[f->id] : s->variadic_any;
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
            for (uint32_t k = 0; whom[i] == LACKS_NOTHING && k < s->reach[i].callees.count; k++) {
                whom[i] = whom[s->reach[i].callees.at[k]];
                changed |= whom[i] != LACKS_NOTHING;
            }
    }
}

// A call takes the callee's local memory and the stack of the callee's own calls. Returns whether
// some function's stack has grown. LAST: a stack that grows in this round is unbounded, because of
// recursion.
static bool grow_stacks(struct shared_layout *s, const struct exec_program *p, bool last)
{
    bool changed = false;
    for (uint32_t i = 0; i < s->module->nfuncs; i++) {
        struct reach *r = &s->reach[i];
        for (uint32_t k = 0; k < r->callees.count; k++) {
            const struct reach *callee = &s->reach[r->callees.at[k]];
            const struct code *c = p->codes[r->callees.at[k]];
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

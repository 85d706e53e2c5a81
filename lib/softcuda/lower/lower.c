// Turns a module into a program: lowers its functions, lays out its shared memory, and describes
// its kernels. Owns struct exec_program until bind.c binds it; after that nothing changes it.
#include "softcuda/lower/lower.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/lower/layout.h"
#include "softcuda/lower/program.h"

static void code_free(struct code *c)
{
    if (!c)
        return;
    free(c->insns);
    free(c->lines);
    free(c->aux);
    free(c->pool);
    free(c->param_at);
    free(c->ret_at);
    free(c);
}

static void lower_deinit(struct lower *L)
{
    free(L->slot);
    free(L->var_at);
    free(L->label_pc);
    free(L->join_of);
    free(L->is_join);
    free(L->pc_of);
    free(L->pool_index);
}

static int lower_init(struct lower *L)
{
    const struct ptx_func *f = L->func;
    L->slot = calloc(f->nregs + 1, sizeof *L->slot);
    L->var_at = calloc(f->nvars + 1, sizeof *L->var_at);
    L->label_pc = calloc(f->nlabels + 1, sizeof *L->label_pc);
    L->join_of = malloc((f->ninsts + 1) * sizeof *L->join_of);
    L->is_join = calloc(f->ninsts + 1, sizeof *L->is_join);
    L->pc_of = calloc(f->ninsts + 1, sizeof *L->pc_of);
    if (!L->slot || !L->var_at || !L->label_pc || !L->join_of || !L->is_join || !L->pc_of)
        return -ENOMEM;
    memset(L->join_of, 0xff, (f->ninsts + 1) * sizeof *L->join_of);
    return 0;
}

static uint64_t align_up(uint64_t x, uint64_t to)
{
    return (x + to - 1) / to * to;
}

// Reserves space for one variable in the local memory.
static bool place_local(struct lower *L, const struct ptx_var *v, uint32_t *at)
{
    uint64_t start = align_up(L->local_bytes, v->align ? v->align : 1);
    uint64_t size = v->unsized ? L->code->variadic_bytes : v->size;
    if (size > LOWER_MAX_LOCAL || start + size > LOWER_MAX_LOCAL) {
        lower_fail(L, -E2BIG, "%s: more than %u bytes of local memory", v->name, LOWER_MAX_LOCAL);
        return false;
    }
    *at = (uint32_t)start;
    L->local_bytes = (uint32_t)(start + size);
    return true;
}

static bool place_params(struct lower *L, struct ptx_var **vars, uint32_t count, uint32_t **out)
{
    *out = calloc(count + 1, sizeof **out);
    if (!*out)
        return lower_fail(L, -ENOMEM, "out of memory");
    for (uint32_t i = 0; i < count; i++) {
        if (vars[i]->space == PTX_SPACE_REG && vars[i]->size != 4 && vars[i]->size != 8)
            return lower_fail(L, -ENOTSUP, "%s: a parameter in a register of %u bits",
                              vars[i]->name, ptx_type_bits((enum ptx_type)vars[i]->type));
        if (!place_local(L, vars[i], &(*out)[i]))
            return false;
    }
    return true;
}

// Places the variables of the body: .local and .param one behind the other in the frame, .shared as
// the module's layout says.
static bool place_vars(struct lower *L, const struct shared_layout *shared)
{
    const struct ptx_func *f = L->func;
    if (!f->entry && (!place_params(L, f->params, f->nparams, &L->code->param_at) ||
                      !place_params(L, f->rets, f->nrets, &L->code->ret_at)))
        return false;
    for (uint32_t i = 0; i < f->nvars; i++) {
        const struct ptx_var *v = f->vars[i];
        uint32_t at = 0;
        if (v->space == PTX_SPACE_LOCAL || v->space == PTX_SPACE_PARAM) {
            if (!place_local(L, v, &at))
                return false;
            L->var_at[i] = at;
        }
    }
    shared_layout_func(shared, f, L->var_at);
    return true;
}

static void lower_one(struct lower *L)
{
    if (lower_integer(L) || lower_compare(L) || lower_bits(L) || lower_float(L) || lower_move(L) ||
        lower_convert(L) || lower_memory(L) || lower_control(L) || lower_matrix(L) ||
        lower_video(L) || lower_texture(L))
        return;
    lower_fail(L, -ENOTSUP, "not supported by this device");
}

// Marks the instruction that counts as the PTX instruction. Joins do not exist in PTX, and the
// instructions before the last one only prepare it.
static void mark_counted(struct lower *L, uint32_t first)
{
    for (uint32_t i = L->code->count; i-- > first;)
        if (L->code->insns[i].run != op_join) {
            L->code->insns[i].flags |= INSN_COUNTS;
            return;
        }
}

static void lower_body(struct lower *L)
{
    const struct ptx_func *f = L->func;
    lower_take_params(L);
    for (uint32_t i = 0; i < f->ninsts && !L->error; i++) {
        const struct ptx_inst *inst = &f->insts[i];
        L->inst = inst;
        L->temps[0].used = L->temps[1].used = L->temps[2].used = 0;
        L->guard = NO_GUARD;
        L->pc_of[i] = L->code->count;
        if (L->is_join[i])
            lower_emit(L, op_join);
        if (inst->guard != PTX_NO_REG) {
            if (lower_reg_bits(L, inst->guard) != 1) {
                lower_fail(L, -EINVAL, "the guard is no predicate");
                return;
            }
            L->guard = L->slot[inst->guard] | (inst->guard_neg ? 1u : 0u);
        }
        lower_one(L);
        mark_counted(L, L->pc_of[i]);
    }
    // Running off the end is a return. An entry's ret is an exit.
    L->inst = NULL;
    L->guard = NO_GUARD;
    L->pc_of[f->ninsts] = L->code->count;
    lower_return(L);
}

// Branches were emitted with PTX instruction indices as targets; translates these, which are known
// now.
static void resolve_targets(struct lower *L)
{
    for (uint32_t i = 0; i < L->code->count; i++) {
        struct insn *in = &L->code->insns[i];
        if (in->run == op_bra || in->run == op_brx) {
            if (in->run == op_bra && in->mode == 0)
                in->target = L->pc_of[in->target];
            if (in->d != NO_TARGET && in->mode == 0)
                in->d = L->pc_of[in->d];
        }
        if (in->run == op_brx)
            for (uint32_t k = 0; k < in->imm; k++)
                L->code->aux[in->aux + k] = L->pc_of[L->code->aux[in->aux + k]];
    }
}

static struct code *lower_func(struct exec_program *p, const struct ptx_func *f,
                               const struct shared_layout *shared,
                               const struct kernel_layout *layout, char *log, size_t log_size,
                               int *error)
{
    struct lower L = {.program = p,
                      .func = f,
                      .alu = alu_table(),
                      .guard = NO_GUARD,
                      .layout = layout,
                      .log = log,
                      .log_size = log_size};
    L.code = calloc(1, sizeof *L.code);
    if (!L.code || lower_init(&L)) {
        L.error = -ENOMEM;
    } else {
        L.code->func = f;
        L.code->program = p;
        L.code->variadic_bytes = shared_layout_variadic(shared, f);
        if (place_vars(&L, shared) && !(L.error = lower_find_joins(&L)) &&
            !lower_assign_slots(&L)) {
            lower_body(&L);
            // arguments of calls were added on the way
            if (L.local_bytes > LOWER_MAX_LOCAL - 16)
                lower_fail(&L, -E2BIG, "more than %u bytes of local memory", LOWER_MAX_LOCAL);
            if (!L.error)
                resolve_targets(&L);
            L.code->frame_bytes = L.frame_bytes;
            L.code->local_bytes = (uint32_t)align_up(L.local_bytes, 16);
        }
    }
    lower_deinit(&L);
    *error = L.error;
    if (L.error) {
        code_free(L.code);
        return NULL;
    }
    return L.code;
}

static int describe_kernels(struct exec_program *p, const struct shared_layout *shared)
{
    const struct ptx_module *m = p->module;
    size_t n = 0;
    for (uint32_t i = 0; i < m->nfuncs; i++)
        n += m->funcs[i]->entry && m->funcs[i]->has_body;
    p->kernels = calloc(n + 1, sizeof *p->kernels);
    p->layouts = calloc(n + 1, sizeof *p->layouts);
    if (!p->kernels || !p->layouts)
        return -ENOMEM;
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];
        if (!f->entry || !f->has_body)
            continue;
        shared_layout_kernel(shared, f, &p->layouts[p->nkernels]);
        p->kernels[p->nkernels++] = (struct exec_kernel){.func = f, .program = p};
    }
    return 0;
}

// Fills in the parts of a kernel that are only known when every function is lowered.
static void finish_kernels(struct exec_program *p, struct shared_layout *shared)
{
    shared_layout_close_stacks(shared, p);
    for (size_t i = 0; i < p->nkernels; i++) {
        struct exec_kernel *k = &p->kernels[i];
        struct kernel_layout *layout = &p->layouts[i];
        const struct code *c = p->codes[k->func->id];
        uint32_t registers = c->frame_bytes / (LANES * 4);
        k->registers = registers < 16 ? 16 : registers > 255 ? 255 : registers;
        k->shared_bytes = layout->static_shared;
        k->local_bytes = c->local_bytes;
        k->uses_dynamic_stack = !shared_layout_stack(shared, k->func, &layout->stack_static);
    }
}

// Functions that could not be lowered.
struct lacking {
    char **why;     // NULL: the function was lowered, or is not itself the cause
    uint32_t *whom; // the function whose code it lacks, possibly itself; LACKS_NOTHING
    int error;      // the first
};

static int lacking_init(struct lacking *l, const struct ptx_module *m)
{
    l->why = calloc(m->nfuncs + 1, sizeof *l->why);
    l->whom = malloc((m->nfuncs + 1) * sizeof *l->whom);
    if (!l->why || !l->whom)
        return -ENOMEM;
    for (uint32_t i = 0; i < m->nfuncs; i++)
        l->whom[i] = LACKS_NOTHING;
    return 0;
}

static void lacking_deinit(struct lacking *l, const struct ptx_module *m)
{
    for (uint32_t i = 0; l->why && i < m->nfuncs; i++)
        free(l->why[i]);
    free(l->why);
    free(l->whom);
}

static int lower_all(struct exec_program *p, const struct shared_layout *shared, struct lacking *l)
{
    const struct ptx_module *m = p->module;
    size_t kernel = 0;
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];
        const struct kernel_layout *layout = NULL;
        char why[512] = "";
        if (!f->has_body)
            continue;
        if (f->entry)
            layout = &p->layouts[kernel++];
        int error = 0;
        size_t relocs = p->nrelocs;
        p->codes[i] = lower_func(p, f, shared, layout, why, sizeof why, &error);
        if (!error)
            continue;
        p->nrelocs = relocs; // drops the relocations of the code that is dropped
        l->why[i] = error == -ENOMEM ? NULL : strdup(why);
        if (!l->why[i])
            return -ENOMEM;
        l->whom[i] = i;
        l->error = l->error ? l->error : error;
    }
    return 0;
}

// Leaves out kernels that lack code, with a line in LOG for each, as long as a kernel remains. 0 or
// the error.
static int leave_out(struct exec_program *p, const struct shared_layout *shared,
                     const struct lacking *l, char *log, size_t log_size)
{
    size_t kept = 0, used = 0;
    if (!l->error)
        return 0;
    shared_layout_spread(shared, l->whom);
    for (size_t i = 0; i < p->nkernels; i++) {
        const struct ptx_func *f = p->kernels[i].func;
        uint32_t whom = l->whom[f->id];
        if (whom == LACKS_NOTHING) {
            p->kernels[kept] = p->kernels[i];
            p->layouts[kept++] = p->layouts[i];
        } else if (used < log_size) {
            used += (size_t)snprintf(log + used, log_size - used, "%s%s%s%s", used ? "\n" : "",
                                     whom == f->id ? "" : f->name,
                                     whom == f->id ? "" : ": it calls ", l->why[whom]);
        }
    }
    p->nkernels = kept;
    if (kept)
        return 0;
    for (uint32_t i = 0; i < p->module->nfuncs; i++)
        if (l->why[i]) {
            snprintf(log, log_size, "%s", l->why[i]);
            break;
        }
    return l->error;
}

int exec_program_new(const struct ptx_module *module, struct exec_program **out, char *log,
                     size_t log_size)
{
    if (log_size)
        log[0] = 0;
    struct exec_program *p = calloc(1, sizeof *p);
    struct shared_layout *shared = NULL;
    struct lacking lacking = {0};
    int error = -ENOMEM;
    if (p) {
        p->module = module;
        p->codes = calloc(module->nfuncs + 1, sizeof *p->codes);
        p->consts = calloc(module->nvars + 1, sizeof *p->consts);
        error = p->codes && p->consts ? shared_layout_new(module, &shared, log, log_size) : -ENOMEM;
    }
    if (!error)
        error = describe_kernels(p, shared);
    if (!error)
        error = lacking_init(&lacking, module);
    if (!error) {
        p->shared_at = shared_layout_take(shared);
        error = lower_all(p, shared, &lacking);
    }
    if (!error)
        error = leave_out(p, shared, &lacking, log, log_size);
    if (!error)
        finish_kernels(p, shared);
    lacking_deinit(&lacking, module);
    shared_layout_free(shared);
    if (error) {
        exec_program_free(p);
        return error;
    }
    *out = p;
    return 0;
}

void exec_program_free(struct exec_program *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; p->codes && i < p->module->nfuncs; i++)
        code_free(p->codes[i]);
    free(p->codes);
    free(p->shared_at);
    free(p->relocs);
    free(p->consts);
    free(p->kernels);
    free(p->layouts);
    free(p);
}

size_t exec_program_kernel_count(const struct exec_program *program)
{
    return program->nkernels;
}

const struct exec_kernel *exec_program_kernel(const struct exec_program *program, size_t index)
{
    return &program->kernels[index];
}

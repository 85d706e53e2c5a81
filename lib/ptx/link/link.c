/* See link.h. The modules are read, one definition is chosen for each name, and the result is
 * printed as one module. Operands refer to symbols by pointers to the module's own objects, which
 * stay valid: a symbol that was not chosen has the same name as the one that was. */
#include "ptx/link/link.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"

/* Appended to the names of modules' own symbols if another module has that name. */
#define RENAMED "$linked"

/* A variable or function at the top level of a module: one of the two pointers. */
struct symbol {
    const char *name;
    uint32_t module;
    struct ptx_var *var;
    struct ptx_func *func;
};

/* How much a symbol defines: the one of the highest rank is chosen for its name. */
enum rank { RANK_DECLARED, RANK_COMMON, RANK_WEAK, RANK_DEFINED };

struct linker {
    struct ptx_module **modules;
    uint32_t count;
    struct symbol *symbols; /* sorted by name, then by module */
    size_t symbol_count;
    struct ptx_module linked; /* the result: its arrays hold the modules' objects */
    char *why;
};

static int fail(const struct linker *l, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(const struct linker *l, int error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(l->why, 320, format, arguments);
    va_end(arguments);
    return error;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int module_read(struct linker *l, const char *text, size_t length)
{
    struct ptx_error error;
    struct ptx_module *m;
    int result;

    if (memmem(text, strnlen(text, length), RENAMED, sizeof(RENAMED) - 1) != NULL)
        return fail(l, -EINVAL, "text %u has a name with \"" RENAMED "\", which is the linker's",
                    l->count + 1);
    result = ptx_parse(text, length, &m, &error);
    if (result != 0)
        return fail(l, result, "text %u, line %" PRIu32 ": %s", l->count + 1, error.line,
                    error.text);
    l->modules[l->count++] = m;
    l->symbol_count += m->nvars + m->nfuncs;
    if (m->address_size != l->modules[0]->address_size)
        return fail(l, -EINVAL, "text 1 has addresses of %u bits, text %u of %u",
                    l->modules[0]->address_size, l->count, m->address_size);
    return 0;
}

/* Chooses the newest version and architecture of all modules, which runs all of them. */
static void target_choose(struct linker *l)
{
    const struct ptx_module *newest = l->modules[0];

    l->linked.address_size = newest->address_size;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct ptx_module *m = l->modules[i];

        if (m->sm > newest->sm || (m->sm == newest->sm && m->sm_suffix > newest->sm_suffix))
            newest = m;
        if (m->version_major > l->linked.version_major ||
            (m->version_major == l->linked.version_major &&
             m->version_minor > l->linked.version_minor)) {
            l->linked.version_major = m->version_major;
            l->linked.version_minor = m->version_minor;
        }
    }
    l->linked.target = newest->target;
}

static int symbol_compare(const void *a, const void *b)
{
    const struct symbol *s = a, *t = b;
    int order = strcmp(s->name, t->name);

    return order != 0 ? order : (s->module > t->module) - (s->module < t->module);
}

static int symbols_collect(struct linker *l)
{
    struct symbol *at = calloc(l->symbol_count + 1, sizeof(*at));

    l->symbols = at;
    if (at == NULL)
        return fail(l, -ENOMEM, "no memory to link");
    for (uint32_t i = 0; i < l->count; i++) {
        const struct ptx_module *m = l->modules[i];

        for (uint32_t v = 0; v < m->nvars; v++)
            *at++ = (struct symbol){m->vars[v]->name, i, m->vars[v], NULL};
        for (uint32_t f = 0; f < m->nfuncs; f++)
            *at++ = (struct symbol){m->funcs[f]->name, i, NULL, m->funcs[f]};
    }
    qsort(l->symbols, l->symbol_count, sizeof(*l->symbols), symbol_compare);
    return 0;
}

/* ---- One definition for each name ------------------------------------------------------------ */

static unsigned linkage_of(const struct symbol *s)
{
    return s->var != NULL ? s->var->linkage : s->func->linkage;
}

static bool defines(const struct symbol *s)
{
    return s->var != NULL ? s->var->linkage != PTX_LINK_EXTERN
                          : s->func->has_body || s->func->alias != NULL;
}

/* Whether no other module can refer to the symbol. */
static bool is_own(const struct symbol *s)
{
    return linkage_of(s) == PTX_LINK_NONE && defines(s);
}

static enum rank rank_of(const struct symbol *s)
{
    if (!defines(s))
        return RANK_DECLARED;
    return linkage_of(s) == PTX_LINK_COMMON ? RANK_COMMON
           : linkage_of(s) == PTX_LINK_WEAK ? RANK_WEAK
                                            : RANK_DEFINED;
}

static bool params_agree(struct ptx_var *const *a, uint32_t a_count, struct ptx_var *const *b,
                         uint32_t b_count)
{
    if (a_count != b_count)
        return false;
    for (uint32_t i = 0; i < a_count; i++) {
        if (a[i]->size != b[i]->size)
            return false;
    }
    return true;
}

static bool agree(const struct symbol *a, const struct symbol *b)
{
    if ((a->var == NULL) != (b->var == NULL))
        return false;
    if (a->var != NULL)
        return a->var->space == b->var->space &&
               (a->var->unsized || b->var->unsized || a->var->linkage == PTX_LINK_COMMON ||
                b->var->linkage == PTX_LINK_COMMON || a->var->size == b->var->size);
    return a->func->entry == b->func->entry &&
           params_agree(a->func->rets, a->func->nrets, b->func->rets, b->func->nrets) &&
           params_agree(a->func->params, a->func->nparams, b->func->params, b->func->nparams);
}

/* Chooses one of the `count` symbols with the same name, apart from modules' own. */
static int group_choose(const struct linker *l, struct symbol *group, size_t count,
                        struct symbol **chosen)
{
    *chosen = NULL;
    for (struct symbol *s = group; s < group + count; s++) {
        enum rank rank = rank_of(s), before;

        if (is_own(s))
            continue;
        if (*chosen == NULL) {
            *chosen = s;
            continue;
        }
        if (!agree(*chosen, s))
            return fail(l, -EINVAL, "%s is one thing in text %u and another in text %u", s->name,
                        (*chosen)->module + 1, s->module + 1);
        before = rank_of(*chosen);
        if (rank == RANK_DEFINED && before == RANK_DEFINED)
            return fail(l, -EINVAL, "%s is defined in text %u and in text %u", s->name,
                        (*chosen)->module + 1, s->module + 1);
        if (rank > before || (rank == RANK_COMMON && before == RANK_COMMON && s->var != NULL &&
                              s->var->size > (*chosen)->var->size))
            *chosen = s;
    }
    return 0;
}

/* ---- The device runtime ---------------------------------------------------------------------- */

/* nvcc links the device runtime (libcudadevrt) with every program compiled with -rdc=true. Kernels
 * launch kernels by it, through functions of the driver that PTX cannot reach. */
#define DEVICE_RUNTIME_CALL "__cuda_syscall_cnpv2LaunchDeviceV2"
/* libgshare_cudart links this for programs with conditional nodes (cudart/state/module.c). */
#define CONDITION_FUNCTION  "cudaGraphSetConditional"

/* The number of symbols with the same name as the one at `group`. */
static size_t group_count(const struct linker *l, const struct symbol *group)
{
    const struct symbol *end = l->symbols + l->symbol_count, *s = group;

    while (s < end && strcmp(s->name, group->name) == 0)
        s++;
    return (size_t)(s - group);
}

/* Finds the first module that defines, or declares, the name. */
static bool module_find(const struct linker *l, const char *name, bool defined, uint32_t *module)
{
    for (size_t i = 0; i < l->symbol_count; i++) {
        if (strcmp(l->symbols[i].name, name) == 0 && defines(&l->symbols[i]) == defined) {
            *module = l->symbols[i].module;
            return true;
        }
    }
    return false;
}

/* Whether another module declares what the module defines. */
static bool module_is_used(const struct linker *l, uint32_t module)
{
    for (size_t i = 0, n; i < l->symbol_count; i += n) {
        bool defined = false, declared = false;

        n = group_count(l, &l->symbols[i]);
        for (const struct symbol *s = &l->symbols[i]; s < &l->symbols[i] + n; s++) {
            defined |= s->module == module && defines(s) && !is_own(s);
            declared |= s->module != module && !defines(s);
        }
        if (defined && declared)
            return true;
    }
    return false;
}

/* Leaves out the module that defines, or declares, the name, if no other module calls it. Otherwise
 * each indirect call might mean one of its functions, its target might be newer than the device,
 * and a fenced module with functions reads its window from a constant, which slows each launch. */
static void unused_leave_out(struct linker *l, const char *name, bool defined)
{
    uint32_t module;
    size_t kept = 0;

    if (l->count == 1 || !module_find(l, name, defined, &module) || module_is_used(l, module))
        return;
    for (size_t i = 0; i < l->symbol_count; i++) {
        if (l->symbols[i].module == module)
            continue;
        l->symbols[kept] = l->symbols[i];
        l->symbols[kept++].module -= l->symbols[i].module > module;
    }
    l->symbol_count = kept;
    ptx_module_free(l->modules[module]);
    memmove(&l->modules[module], &l->modules[module + 1],
            (--l->count - module) * sizeof(*l->modules));
}

/* ---- What stands for a name ------------------------------------------------------------------ */

static int symbol_rename(const struct linker *l, struct symbol *s)
{
    const size_t size = strlen(s->name) + sizeof(RENAMED) + 10;
    char *name = ptx_alloc(l->modules[s->module], size);

    if (name == NULL)
        return fail(l, -ENOMEM, "no memory to link");
    snprintf(name, size, "%s" RENAMED "%" PRIu32, s->name, s->module + 1);
    if (s->var != NULL)
        s->var->name = name;
    else
        s->func->name = name;
    return 0;
}

/* Sets the `user` of each variable and function to the symbol chosen for its name. */
static int group_resolve(const struct linker *l, struct symbol *group, size_t count)
{
    struct symbol *chosen;
    int result = group_choose(l, group, count, &chosen);

    if (result == 0 && chosen != NULL && chosen->var != NULL && !defines(chosen) &&
        chosen->var->space != PTX_SPACE_SHARED)
        result = fail(l, -EINVAL, "%s, which text %u declares, is not defined in any", chosen->name,
                      chosen->module + 1);
    for (struct symbol *s = group; s < group + count && result == 0; s++) {
        const struct symbol *stands = is_own(s) ? s : chosen;

        if (s->var != NULL)
            s->var->user = stands->var;
        else
            s->func->user = stands->func;
        /* Dynamic shared memory gets the strictest alignment that any kernel requires. */
        if (stands->var != NULL && stands->var->align < s->var->align)
            stands->var->align = s->var->align;
        if (is_own(s) && count > 1)
            result = symbol_rename(l, s);
    }
    return result;
}

static int symbols_resolve(const struct linker *l)
{
    int result = 0;

    for (size_t i = 0, n; i < l->symbol_count && result == 0; i += n) {
        for (n = 1;
             i + n < l->symbol_count && strcmp(l->symbols[i].name, l->symbols[i + n].name) == 0;)
            n++;
        result = group_resolve(l, &l->symbols[i], n);
    }
    return result;
}

/* ---- What is left ---------------------------------------------------------------------------- */

/* A variable whose initial value refers to others, which must come before it. */
struct waiting {
    struct ptx_var *var;
    uint32_t next; /* of its addresses */
};

#define WAITING UINT32_MAX /* the id of a variable on the stack */

static bool is_placed(const struct linker *l, const struct ptx_var *var)
{
    return var->id < l->linked.nvars && l->linked.vars[var->id] == var;
}

/* Places the variable after those to which its initial value refers. */
static int var_place(struct linker *l, struct ptx_var *var, struct waiting *stack)
{
    size_t depth = 0;

    var->id = WAITING;
    stack[depth++] = (struct waiting){var, 0};
    while (depth > 0) {
        struct waiting *top = &stack[depth - 1];
        struct ptx_var *other = NULL;

        while (top->next < top->var->nrelocs && other == NULL) {
            struct ptx_var *named = top->var->relocs[top->next++].var;

            other = named != NULL ? named->user : NULL;
            if (other == top->var || (other != NULL && is_placed(l, other)))
                other = NULL;
        }
        if (other == NULL) {
            top->var->id = l->linked.nvars;
            l->linked.vars[l->linked.nvars++] = top->var;
            depth--;
        } else if (other->id == WAITING) {
            return fail(l, -EINVAL, "the initial values of %s and %s name each other",
                        top->var->name, other->name);
        } else {
            other->id = WAITING;
            stack[depth++] = (struct waiting){other, 0};
        }
    }
    return 0;
}

static int vars_place(struct linker *l)
{
    struct waiting *stack = calloc(l->symbol_count + 1, sizeof(*stack));
    int result = stack != NULL ? 0 : fail(l, -ENOMEM, "no memory to link");

    for (uint32_t i = 0; i < l->count; i++) {
        for (uint32_t v = 0; v < l->modules[i]->nvars && result == 0; v++) {
            struct ptx_var *var = l->modules[i]->vars[v];

            if (var->user == var && !is_placed(l, var))
                result = var_place(l, var, stack);
        }
    }
    free(stack);
    return result;
}

/* The printer prints bodies in the order of their lines, so module by module. */
static void funcs_place(struct linker *l)
{
    uint32_t line = 0;

    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t last = line;

        for (uint32_t f = 0; f < l->modules[i]->nfuncs; f++) {
            struct ptx_func *func = l->modules[i]->funcs[f];

            func->line += line;
            last = func->line > last ? func->line : last;
            func->id = l->linked.nfuncs;
            if (func->user == func)
                l->linked.funcs[l->linked.nfuncs++] = func;
        }
        line = last + 1;
    }
}

/* A pragma of one module applies to all. */
static void pragmas_place(struct linker *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        for (uint32_t p = 0; p < l->modules[i]->npragmas; p++)
            l->linked.pragmas[l->linked.npragmas++] = l->modules[i]->pragmas[p];
    }
}

static int linked_make(struct linker *l)
{
    size_t pragmas = 0;

    for (uint32_t i = 0; i < l->count; i++)
        pragmas += l->modules[i]->npragmas;
    l->linked.vars = calloc(l->symbol_count + 1, sizeof(struct ptx_var *));
    l->linked.funcs = calloc(l->symbol_count + 1, sizeof(struct ptx_func *));
    l->linked.pragmas = calloc(pragmas + 1, sizeof(const char *));
    if (l->linked.vars == NULL || l->linked.funcs == NULL || l->linked.pragmas == NULL)
        return fail(l, -ENOMEM, "no memory to link");
    pragmas_place(l);
    funcs_place(l);
    return vars_place(l);
}

static int linked_print(const struct linker *l, char **out, size_t *out_len)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    int result;

    if (stream == NULL)
        return fail(l, -ENOMEM, "no memory to link");
    result = ptx_print(&l->linked, stream);
    if (fclose(stream) != 0 || result != 0)
        result = fail(l, -ENOMEM, "no memory to link");
    else if (length > PTX_MAX_TEXT)
        result =
            fail(l, -E2BIG, "linked, the texts have %zu bytes, more than %u", length, PTX_MAX_TEXT);
    if (result == 0) {
        *out = text;
        *out_len = length;
    } else {
        free(text);
    }
    return result;
}

int ptx_link(const char *const texts[], const size_t lengths[], unsigned count, char **out,
             size_t *out_len, char why[320])
{
    struct linker l = {.modules = calloc(count ? count : 1, sizeof(struct ptx_module *)),
                       .why = why};
    int result = l.modules != NULL && count > 0 ? 0 : fail(&l, -ENOMEM, "no memory to link");

    for (unsigned i = 0; i < count && result == 0; i++)
        result = module_read(&l, texts[i], lengths[i]);
    if (result == 0)
        result = symbols_collect(&l);
    if (result == 0) {
        unused_leave_out(&l, DEVICE_RUNTIME_CALL, false);
        unused_leave_out(&l, CONDITION_FUNCTION, true);
        target_choose(&l);
        result = symbols_resolve(&l);
    }
    if (result == 0)
        result = linked_make(&l);
    if (result == 0)
        result = linked_print(&l, out, out_len);
    for (uint32_t i = 0; i < l.count; i++)
        ptx_module_free(l.modules[i]);
    free(l.modules);
    free(l.symbols);
    free(l.linked.vars);
    free(l.linked.funcs);
    free(l.linked.pragmas);
    return result;
}

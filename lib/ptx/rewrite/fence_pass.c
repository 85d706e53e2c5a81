/* The address fence: no instruction of a tenant reaches global memory outside of its session's
 * window, whatever the address is. doc/isolation.md says what this prevents and what it does not.
 *
 * The fence works on the text including what other passes added. A prologue in each function loads
 * the window into registers (fence_window.c). Each access to .global, or to a generic address, gets
 * a fence before it (fence_access.c). Module variables move into the window (fence_globals.c).
 * Indirect jumps only go to places in the module (fence_jump.c). Textures and surfaces come from
 * the session's table (fence_texture.c), tensor maps from a kernel's parameters (fence_maps.c). The
 * code waits for asynchronous products (fence_products.c). All other instructions pass if they are
 * on a list, and are refused if not (fence_instruction.c). Then the module is parsed again, printed
 * without the variables that moved, and verified by independent code (fence_check.c). */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/rewrite/by_name.h"
#include "ptx/rewrite/definitions.h"
#include "ptx/rewrite/fault_text.h"
#include "ptx/rewrite/fence.h"
#include "ptx/rewrite/fence_pass.h"
#include "ptx/rewrite/leave_out.h"
#include "ptx/rewrite/pass.h"
#include "ptx/rewrite/texture_table.h"

/* Memory of any device can be aligned to this. */
#define VARIABLES_ALIGN 65536u

enum { MOST_NAME = 200 }; /* the longest register name that the pass writes */

static const char strays_prologue[] = " .reg .b64 gshare$old; .reg .pred gshare$r;";

/* ---- Functions ---- */

/* Whether no scope gives a register the name of another one: the text only has the name. */
static bool names_are_plain(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->ndecls; i++)
        if ((f->decls[i].nested && !fence_is_reserved_name(f->decls[i].name)) ||
            strlen(f->decls[i].name) > MOST_NAME)
            return false;
    return true;
}

/* Collects what the parts need to know of the whole function. False: no memory. */
static bool function_begin(struct fence *fence)
{
    const struct ptx_func *f = fence->f;

    free(fence->definitions);
    free(fence->labelled);
    fence->definitions = definitions_find(f);
    fence->labelled = calloc((size_t)f->ninsts + 1, sizeof(*fence->labelled));
    if (!fence->definitions || !fence->labelled || !fence_registers_begin(fence))
        return false;
    for (uint32_t i = 0; i < f->nlabels; i++)
        fence->labelled[f->labels[i].inst] = true;
    fence->plain = names_are_plain(f);
    fence->map = fence_register_named(f, FENCE_MAP);
    fence_stack_begin(fence);
    return true;
}

static bool take_function(struct fence *fence, const struct ptx_func *f)
{
    uint64_t beyond;

    if (f->alias && !fence_alias(fence, f))
        return false;
    fence->f = f;
    if (!function_begin(fence))
        return false;
    for (uint32_t i = 0; i < f->nvars; i++)
        if (f->vars[i]->space == PTX_SPACE_GLOBAL || f->vars[i]->space == PTX_SPACE_TEX ||
            f->vars[i]->space == PTX_SPACE_CONST)
            return fence_refuse(fence, f->vars[i]->line, "%.80s: a .%s variable in a function",
                                f->vars[i]->name, ptx_space_name(f->vars[i]->space));
    for (uint32_t i = 0; i < f->npragmas; i++)
        if (!fence_pragma_is_harmless(f->pragmas[i]))
            return fence_refuse(fence, f->line, ".pragma %.80s", f->pragmas[i]);
    if (!f->has_body)
        return true;
    if (!fence_size(fence) || !fence_window_begin(fence))
        return false;
    if (fence->strays)
        edits_insert(&fence->edits, f->body_begin, strays_prologue);
    fence_loops_begin(fence);
    if (!fence_bases_begin(fence) || !fence_walks_begin(fence) || !fence_products_begin(fence))
        return false;
    for (uint32_t i = 0; i < f->ninsts; i++) {
        fence->inst = &f->insts[i];
        fence->stretch += fence->labelled[i];
        if (!fence_products(fence, i) || !fence_instruction(fence) || !fence_symbols(fence))
            return false;
        if (fence->edits.too_long)
            return fence_refuse(fence, fence->inst->line,
                                "with its fences the text exceeds 64 MiB");
        fence_registers_written(fence, fence_step(fence, &beyond) ? &beyond : NULL);
        fence_walks_written(fence);
    }
    return fence_products(fence, f->ninsts);
}

/* ---- Functions that the fence refuses ---- */

/* Counts of the report, to take back what it says of a function that is left out. */
struct reported {
    uint32_t stack_line;
    bool textures, indexed;
};

static struct reported reported(const struct fence *fence)
{
    return (struct reported){fence->report->stack_line, fence->report->textures,
                             fence->report->indexed};
}

/* Drops the edits of functions that are left out. The edits of a function, by ptx_func.id, are from
 * first[id] to first[id + 1]. */
static void drop_edits(struct fence *fence, const struct leave_out *out, const size_t *first)
{
    struct edits *edits = &fence->edits;
    size_t kept = first[0];

    for (uint32_t i = 0; i < fence->m->nfuncs; i++)
        for (size_t k = first[i]; k < first[i + 1]; k++)
            if (!leave_out_has(out, fence->m->funcs[i]))
                edits->all[kept++] = edits->all[k];
            else
                edits->size -= strlen(edits->all[k].with);
    edits->count = kept;
}

/* Fences the functions, and leaves out those that it refuses. False: no memory, or the module is
 * refused. */
static bool take_some(struct fence *fence, struct leave_out *out, size_t *first)
{
    struct ptx_fence_report *report = fence->report;
    char reason[sizeof(report->reason)] = "";
    enum leave_out_result result;

    for (uint32_t i = 0; i < fence->m->nfuncs; i++) {
        const struct ptx_func *f = fence->m->funcs[i];
        const struct reported before = reported(fence);
        bool taken;

        first[i] = fence->edits.count;
        taken = take_function(fence, f);
        /* The caller would refuse the whole module because of this store. */
        if (taken && report->stack_line)
            taken = fence_refuse(fence, report->stack_line, FENCE_STACK_REASON);
        if (taken)
            continue;
        if (!fence->refused || fence->edits.too_long || fence_is_gshare_function(f))
            return false;
        if (!reason[0])
            memcpy(reason, report->reason, sizeof(reason));
        if (!leave_out_add(out, f, report->reason))
            return fence->refused = false;
        fence->refused = false;
        report->reason[0] = '\0';
        report->stack_line = before.stack_line;
        report->textures = before.textures;
        report->indexed = before.indexed;
    }
    first[fence->m->nfuncs] = fence->edits.count;
    if (!out->count)
        return true;
    result = leave_out_settle(out, &fence->reach);
    if (result == LEAVE_OUT_IMPOSSIBLE)
        return fence_refuse(fence, 0, "%s", reason);
    if (result == LEAVE_OUT_NO_MEMORY)
        return false;
    drop_edits(fence, out, first);
    leave_out_edit(out, &fence->edits);
    return true;
}

static bool take_functions_or_leave_out(struct fence *fence)
{
    size_t *first = calloc((size_t)fence->m->nfuncs + 2, sizeof(*first));
    struct leave_out out = {0};
    bool taken =
        first && leave_out_init(&out, fence->m, fence->left) && take_some(fence, &out, first);

    leave_out_deinit(&out);
    free(first);
    return taken;
}

static bool take_functions(struct fence *fence)
{
    if (fence->left && !fence->variables)
        return take_functions_or_leave_out(fence);
    for (uint32_t i = 0; i < fence->m->nfuncs; i++)
        if (!(fence->variables ? fence_variables : take_function)(fence, fence->m->funcs[i]))
            return false;
    return true;
}

/* ---- The module ---- */

static const char *module_obstacle(const struct ptx_module *m)
{
    uint64_t registers = 0;

    for (uint32_t i = 0; i < m->nfuncs; i++)
        registers += m->funcs[i]->nregs + (m->funcs[i]->has_body ? FENCE_REGS : 0);
    if (m->address_size != 64)
        return "the module's addresses have 32 bits";
    if (m->sm < 50)
        return "the module's target is below sm_50, the first with lop3";
    if (m->npragmas)
        return "the module has a .pragma";
    if (registers > PTX_MAX_MODULE_REGS)
        return "the module has too many registers";
    return NULL;
}

/* Declares the constants behind .address_size 64, before the first function or variable that may
 * use them. */
static bool declare_constants(struct fence *fence)
{
    const size_t at = rewrite_head_end(fence->text, strlen(fence->text));

    if (!at)
        return fence_refuse(fence, 0, "the module does not say .address_size");
    if (fence->constant || fence->variables)
        edits_insert(&fence->edits, at, " .const .align 16 .b32 " FENCE_VARIABLE "[4];");
    if (fence->report->textures)
        edits_insert(&fence->edits, at, " .const .align 8 .b64 " FENCE_TEXTURES ";");
    return true;
}

static bool take_module(struct fence *fence)
{
    const char *obstacle = module_obstacle(fence->m);

    if (obstacle)
        return fence_refuse(fence, 0, "%s", obstacle);
    reach_init(&fence->reach, fence->m);
    if (fence->reach.failed)
        return false;
    fence_find_generic(fence);
    fence->frames_bytes = fence_frames_bytes(fence->m);
    fence->report->stack_bytes =
        fence->frames_bytes && reach_is_deep(&fence->reach) ? fence->frames_bytes : 0;
    fence->gets_locals = calloc((size_t)fence->m->nfuncs + 1, sizeof(*fence->gets_locals));
    if (!fence->gets_locals || (fence->generic[PTX_SPACE_LOCAL] && !fence_escapes(fence)))
        return false;
    if (!fence_globals(fence))
        return false;
    if (fence->variables && !fence->report->nvariables)
        return fence_refuse(fence, 0, "the module has no variables");
    if (fence->variables && fence->report->align > VARIABLES_ALIGN)
        return fence_refuse(fence, 0, "a variable is aligned to more than %u bytes",
                            VARIABLES_ALIGN);
    if (fence->variables && !rewrite_constants_fit(fence->m))
        return fence_refuse(fence, 0, "its constants leave no room for the window's");
    return take_functions(fence) && declare_constants(fence);
}

/* ---- The text that comes out ---- */

/* Drops local variables that moved to a frame; nothing names them any more. */
static void drop_local_variables(struct ptx_func *f)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < f->nvars; i++)
        if (f->vars[i]->space != PTX_SPACE_LOCAL || !strcmp(f->vars[i]->name, FENCE_STACK))
            f->vars[kept++] = f->vars[i];
    f->nvars = kept;
}

/* Prints the module in one canonical spelling, without the variables that have moved and their
 * names in .const. */
static int print_module(struct ptx_module *m, char **out, size_t *out_len)
{
    FILE *file = open_memstream(out, out_len);
    uint32_t kept = 0;
    int result;

    if (!file)
        return -ENOMEM;
    for (uint32_t i = 0; i < m->nvars; i++)
        if (!fence_is_moved(m->vars[i])) {
            if (fence_is_bound(m->vars[i]))
                m->vars[i]->nrelocs = 0;
            m->vars[kept++] = m->vars[i];
        }
    m->nvars = kept;
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (fence_has_frame(m->funcs[i]))
            drop_local_variables(m->funcs[i]);
    result = ptx_print(m, file);
    if (fclose(file) || result) {
        free(*out);
        *out = NULL;
        return -ENOMEM;
    }
    return 0;
}

static int finish(struct fence *fence, char **out, size_t *out_len)
{
    struct ptx_module *m = NULL;
    struct ptx_error error = {0};
    size_t len = 0;
    char *edited = NULL, why[200] = "a store to the stack, or an index, was not reported";
    bool stack = false, indexed = false;
    int result;

    if (fence->edits.too_long)
        return fence_refuse(fence, 0, "with its fences the text exceeds 64 MiB"), -EPERM;
    if (!edits_settle(&fence->edits))
        return fence_refuse(fence, 0, "two passes change the same instruction"), -EPERM;
    edited = edits_apply(&fence->edits, fence->text, strlen(fence->text), &len);
    result = edited ? ptx_parse(edited, len, &m, &error) : -ENOMEM;
    free(edited);
    if (result && result != -ENOMEM)
        return fence_refuse(fence, error.line, "with its fences: %s", error.text), -EPERM;
    if (!result && !fence->variables && !fence_size_of_all(fence, m))
        result = fence->refused ? -EPERM : -ENOMEM;
    if (!result)
        result = print_module(m, out, out_len);
    ptx_module_free(m);
    if (!result && !fence->variables) {
        by_name_sort((void *)(uintptr_t)fence->report->maps, fence->report->nmaps,
                     sizeof(*fence->report->maps));
        result = fence_check(*out, *out_len, fence->report, &stack, &indexed, why, sizeof(why));
        if (!result &&
            ((stack && !fence->report->stack_line) || (indexed && !fence->report->indexed)))
            result = -EPERM;
        if (result == -EPERM)
            fence_refuse(fence, 0, "the fence cannot be verified: %s", why);
        if (result)
            free(*out);
    }
    return result;
}

int fence_pass(const char *text, size_t len, unsigned passes, struct ptx_fence_report *report,
               struct ptx_left_out *left, char **out, size_t *out_len)
{
    struct fence fence = {.text = text,
                          .left = passes & PTX_PASS_LEAVE_OUT ? left : NULL,
                          .strays = passes & PTX_PASS_STRAYS,
                          .variables = !(passes & PTX_PASS_FENCE),
                          .window = passes & PTX_PASS_WINDOW,
                          .report = report,
                          .edits.size = strlen(text)};
    struct ptx_module *m = NULL;
    struct ptx_error error = {0};
    int result = ptx_parse(text, len, &m, &error);
    /* -ENOTSUP: valid PTX that the reader does not support. */
    const bool unread = result && result != -ENOTSUP;
    bool taken = false;

    memset(report, 0, sizeof(*report));
    fence.m = m;
    if (result && result != -ENOMEM)
        fence_refuse(&fence, error.line, "%s", error.text);
    if (!result) {
        taken = take_module(&fence);
        result = fence.refused ? -EPERM : taken && !fence.edits.failed ? 0 : -ENOMEM;
    }
    if (!result && fence.strays && !fault_names_init(&report->strays, m))
        result = -ENOMEM;
    if (!result)
        result = finish(&fence, out, out_len);
    if (fence.refused)
        result = unread ? -EINVAL : -EPERM;
    report->fenced = !result && !fence.variables;
    report->moved = !result && fence.variables;
    reach_deinit(&fence.reach);
    edits_deinit(&fence.edits);
    free(fence.definitions);
    free(fence.labelled);
    free(fence.forced);
    free(fence.beyond);
    free(fence.compared);
    free(fence.loop);
    free(fence.loop_end);
    free(fence.gets_locals);
    free(fence.waits);
    ptx_module_free(m);
    return result;
}

/* A name "gshare" that is used in two scopes would be printed as gshare$1_; see parser_unique_name.
 */
const char *fence_obstacle_in_names(const char *text, size_t len)
{
    static const char stem[] = "gshare";
    const char *end = text + len, *at = text;

    if (memmem(text, len, FENCE_GSHARE_FUNCTION, strlen(FENCE_GSHARE_FUNCTION)))
        return "the module has names that begin with " FENCE_GSHARE_FUNCTION;
    while ((at = memmem(at, (size_t)(end - at), stem, strlen(stem)))) {
        char before = at > text ? at[-1] : ' ';

        at += strlen(stem);
        if ((at == end || (!isalnum((unsigned char)*at) && *at != '_' && *at != '$')) &&
            !isalnum((unsigned char)before) && before != '_' && before != '$' && before != '%')
            return "the module has the name \"gshare\"";
    }
    return NULL;
}

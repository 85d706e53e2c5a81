/* Where a function gets the window from. The worker writes it to FENCE_VARIABLE, which all
 * functions of the module can read, and passes it to each launch of a kernel as a hidden parameter.
 * On an H200 each launch of a module that has .const variables takes 0.1 to 0.2 us longer, and
 * reading one takes as much again; each is a fifth of a small kernel's time. So a kernel uses the
 * parameter. A function that it calls knows no kernel's parameters and uses the variable. A module
 * without such functions does not have the variable.
 *
 * The parameter is right behind the tenant's, before that of the completion pass, because the
 * parameters of a small kernel and the window then share a line of the constant cache. */
#include <assert.h>
#include <string.h>

#include "ptx/ir/arena.h"
#include "ptx/rewrite/completion.h"
#include "ptx/rewrite/fence.h"

#define NAME      "gshare$fenced"
#define PARAMETER ".param .align 8 .b8 " NAME "[16]"
#define BYTES     16u
static_assert(sizeof(struct fence_window) == BYTES, "as PARAMETER");

static const char registers[] =
    " .reg .b32 gshare$mask, gshare$base, gshare$lo, gshare$hi, gshare$x, gshare$y, gshare$s;"
    " .reg .b64 gshare$globals, gshare$at, gshare$sym, gshare$to, gshare$far;"
    " .reg .b64 gshare$inside, gshare$start;"
    " .reg .pred gshare$p, gshare$q;";

static const char from_variable[] =
    " ld.const.v2.b32 {gshare$mask, gshare$base}, [" FENCE_VARIABLE "];"
    " ld.const.b64 gshare$globals, [" FENCE_VARIABLE "+8];";

static const char without[] = " mov.b32 gshare$mask, 0; mov.b32 gshare$base, 0;"
                              " mov.b64 gshare$globals, 0;";

static const char from_parameter[] = " ld.param.v2.b32 {gshare$mask, gshare$base}, [" NAME "];"
                                     " ld.param.b64 gshare$globals, [" NAME "+8];";

/* For FENCE_FORCE. The compiler sees that the lower half does not change. */
static const char halves[] = " mov.b64 gshare$inside, {0xffffffff, gshare$mask};"
                             " mov.b64 gshare$start, {0, gshare$base};";

/* Whether the parameter can be added: only the worker, which knows of it, may launch the kernel. */
static bool has_room(const struct fence *fence)
{
    const struct ptx_func *f = fence->f;

    return f->entry && !fence->reach.taken[f->id] && f->nparams < PTX_MAX_PARAMS &&
           (f->param_bytes + 7) / 8 * 8 + BYTES <= ptx_param_bytes_max(fence->m);
}

/* Whether a pass added the function and nothing in it is fenced: its accesses are in the .global
 * space, which is allowed. */
static bool needs_none(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        for (unsigned k = 0; k < f->insts[i].nops; k++)
            if (f->insts[i].space == PTX_SPACE_GENERIC && f->insts[i].ops[k].kind == PTX_OPND_MEM)
                return false;
    return fence_is_gshare_function(f);
}

static uint32_t tenant_params(const struct ptx_func *f)
{
    uint32_t count = 0;

    while (count < f->nparams && !fence_is_reserved_name(f->params[count]->name))
        count++;
    return count;
}

/* Adds the kernel to the report, which has room for every kernel of the module. */
static bool report_kernel(struct fence *fence)
{
    struct ptx_fence_report *report = fence->report;
    const struct ptx_func *f = fence->f;
    struct ptx_fence_kernel *kernels = (struct ptx_fence_kernel *)report->windowed;

    if (!kernels)
        kernels = arena_alloc(report->memory, sizeof(*kernels) * fence->m->nfuncs);
    if (!kernels)
        return false;
    report->windowed = kernels;
    kernels[report->nwindowed] = (struct ptx_fence_kernel){
        arena_string(report->memory, f->name, strlen(f->name)), tenant_params(f)};
    return kernels[report->nwindowed++].name;
}

/* Adds the parameter to a list to which the completion pass may have added one. */
static void add_parameter(struct fence *fence, const struct ptx_header *h)
{
    static const char done[] = COMPLETION_PARAMETER;
    const size_t size = sizeof(done) - 1;

    if (h->list && h->at >= size && !memcmp(fence->text + h->at - size, done, size))
        edits_insert(&fence->edits, h->at - size, PARAMETER ", ");
    else
        edits_add_parameters(&fence->edits, fence->f, h, PARAMETER);
}

bool fence_window_begin(struct fence *fence)
{
    const struct ptx_func *f = fence->f;
    const bool parameter = fence->window && has_room(fence);

    edits_insert(&fence->edits, f->body_begin, registers);
    if (!parameter) {
        const bool none = fence->window && needs_none(f);

        edits_insert(&fence->edits, f->body_begin, none ? without : from_variable);
        edits_insert(&fence->edits, f->body_begin, halves);
        fence->constant |= !none;
        return true;
    }
    edits_insert(&fence->edits, f->body_begin, from_parameter);
    edits_insert(&fence->edits, f->body_begin, halves);
    for (const struct ptx_header *h = f->headers; h; h = h->next)
        add_parameter(fence, h);
    return report_kernel(fence);
}

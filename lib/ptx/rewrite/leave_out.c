/* See leave_out.h. */
#include "ptx/rewrite/leave_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool leave_out_init(struct leave_out *out, const struct ptx_module *m, struct ptx_left_out *left)
{
    *out = (struct leave_out){.m = m, .left = left};
    out->cause = malloc(((size_t)m->nfuncs + 1) * sizeof(*out->cause));
    out->reasons = calloc((size_t)m->nfuncs + 1, sizeof(*out->reasons));
    /* Every kernel's name and reason, twice: for what cannot be read, and for what the fence
     * refuses. */
    if (!left->memory)
        left->memory = arena_new((size_t)PTX_MAX_FUNCS * 2048 + PTX_MAX_TEXT);
    if (!out->cause || !out->reasons || !left->memory)
        return false;
    for (uint32_t i = 0; i < m->nfuncs; i++)
        out->cause[i] = REACH_NONE;
    return true;
}

void leave_out_deinit(struct leave_out *out)
{
    free(out->cause);
    free(out->reasons);
    memset(out, 0, sizeof(*out));
}

bool leave_out_add(struct leave_out *out, const struct ptx_func *f, const char *reason)
{
    out->reasons[f->id] = arena_string(out->left->memory, reason, strlen(reason));
    out->cause[f->id] = f->id;
    out->count++;
    return out->reasons[f->id] != NULL;
}

static bool report_kernel(struct leave_out *out, const struct ptx_func *f)
{
    struct ptx_left_out_kernel *kernel = arena_alloc(out->left->memory, sizeof(*kernel));
    const uint32_t cause = out->cause[f->id];
    char why[400];

    if (!kernel)
        return false;
    if (cause == f->id)
        snprintf(why, sizeof(why), "%s", out->reasons[cause]);
    else
        snprintf(why, sizeof(why), "it calls %.60s, which cannot be had: %s",
                 out->m->funcs[cause]->name, out->reasons[cause]);
    kernel->name = arena_string(out->left->memory, f->name, strlen(f->name));
    kernel->reason = arena_string(out->left->memory, why, strlen(why));
    kernel->next = out->left->kernels;
    out->left->kernels = kernel;
    return kernel->name && kernel->reason;
}

enum leave_out_result leave_out_settle(struct leave_out *out, struct reach *reach)
{
    const struct ptx_module *m = out->m;
    bool kernels_left = false;

    reach_spread(reach, out->cause);
    if (reach->failed)
        return LEAVE_OUT_NO_MEMORY;
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];

        if (!leave_out_has(out, f))
            kernels_left |= f->entry && f->has_body;
        else if (reach->taken[i] || f->alias)
            return LEAVE_OUT_IMPOSSIBLE;
    }
    if (!kernels_left)
        return LEAVE_OUT_IMPOSSIBLE;
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->entry && leave_out_has(out, m->funcs[i]) &&
            !report_kernel(out, m->funcs[i]))
            return LEAVE_OUT_NO_MEMORY;
    return LEAVE_OUT_DONE;
}

void leave_out_edit(const struct leave_out *out, struct edits *edits)
{
    for (uint32_t i = 0; i < out->m->nfuncs; i++)
        if (leave_out_has(out, out->m->funcs[i]))
            for (const struct ptx_header *h = out->m->funcs[i]->headers; h; h = h->next)
                edits_replace(edits, h->begin, h->end, "");
}

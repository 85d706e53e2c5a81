/* See grid_sync.h. */
#include "ptx/rewrite/grid_sync.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ir/arena.h"
#include "ptx/rewrite/by_name.h"
#include "ptx/rewrite/grid.h"
#include "ptx/rewrite/reach.h"

static bool is_workspace(const struct ptx_operand *o)
{
    return o->kind == PTX_OPND_SREG && o->sreg == PTX_SREG_ENVREG &&
           (o->index == 1 || o->index == 2);
}

bool grid_reads_workspace(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        for (unsigned k = 0; k < f->insts[i].nops; k++)
            if (is_workspace(&f->insts[i].ops[k]))
                return true;
    return false;
}

static bool has_trap(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (f->insts[i].op == PTX_OP_TRAP)
            return true;
    return false;
}

static bool names_take(struct grid_sync *out, const struct ptx_module *m, const uint32_t *reads,
                       const uint32_t *traps)
{
    size_t bytes = 4096;

    for (uint32_t i = 0; i < m->nfuncs; i++)
        bytes += strlen(m->funcs[i]->name) + sizeof(char *) + 64;
    out->memory = arena_new(bytes);
    if (out->memory)
        out->names = arena_alloc(out->memory, (m->nfuncs + 1) * sizeof(*out->names));
    if (!out->names)
        return false;
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const char *name = m->funcs[i]->name;

        if (!m->funcs[i]->entry || reads[i] == REACH_NONE || traps[i] == REACH_NONE)
            continue;
        out->names[out->count] = arena_string(out->memory, name, strlen(name));
        if (!out->names[out->count++])
            return false;
    }
    by_name_sort(out->names, out->count, sizeof(*out->names));
    return true;
}

static bool kernels_find(struct grid_sync *out, const struct ptx_module *m)
{
    struct reach reach;
    uint32_t *reads = calloc((size_t)m->nfuncs + 1, sizeof(*reads));
    uint32_t *traps = calloc((size_t)m->nfuncs + 1, sizeof(*traps));
    bool found = false;

    reach_init(&reach, m);
    if (reads && traps && !reach.failed) {
        for (uint32_t i = 0; i < m->nfuncs; i++) {
            reads[i] = grid_reads_workspace(m->funcs[i]) ? i : REACH_NONE;
            traps[i] = has_trap(m->funcs[i]) ? i : REACH_NONE;
        }
        reach_spread(&reach, reads);
        reach_spread(&reach, traps);
        found = !reach.failed && names_take(out, m, reads, traps);
    }
    reach_deinit(&reach);
    free(reads);
    free(traps);
    return found;
}

bool grid_sync_reads(const char *text, size_t len)
{
    return memmem(text, len, "%envreg", strlen("%envreg"));
}

int grid_sync_find(const char *text, size_t len, struct grid_sync *out)
{
    struct ptx_module *m = NULL;
    struct ptx_error error;
    int result;

    *out = (struct grid_sync){0};
    if (!grid_sync_reads(text, len))
        return 0;
    result = ptx_parse_parts(text, len, &m, &error);
    if (!result && !kernels_find(out, m))
        result = -ENOMEM;
    ptx_module_free(m);
    if (result)
        grid_sync_deinit(out);
    return result == -ENOMEM ? result : 0;
}

bool grid_sync_has(const struct grid_sync *kernels, const char *name)
{
    return by_name_find(kernels->names, kernels->count, sizeof(*kernels->names), name);
}

size_t grid_sync_bytes(const struct grid_sync *kernels)
{
    return arena_bytes(kernels->memory);
}

void grid_sync_deinit(struct grid_sync *kernels)
{
    arena_free(kernels->memory);
    *kernels = (struct grid_sync){0};
}

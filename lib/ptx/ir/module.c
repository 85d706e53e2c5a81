/* Finds things of a module by their names, and gives memory that lives as long as the module. */
#include <string.h>

#include "ptx/ir/arena.h"
#include "ptx/ptx_table.h"

struct ptx_func *ptx_module_func(const struct ptx_module *m, const char *name)
{
    uint32_t i;

    for (i = 0; i < m->nfuncs; i++)
        if (!strcmp(m->funcs[i]->name, name))
            return m->funcs[i];
    return NULL;
}

struct ptx_var *ptx_module_var(const struct ptx_module *m, const char *name)
{
    uint32_t i;

    for (i = 0; i < m->nvars; i++)
        if (!strcmp(m->vars[i]->name, name))
            return m->vars[i];
    return NULL;
}

void *ptx_alloc(struct ptx_module *m, size_t bytes)
{
    return arena_alloc(m->arena, bytes ? bytes : 1);
}

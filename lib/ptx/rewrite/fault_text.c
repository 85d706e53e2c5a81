/* A kernel that traps, asserts or strays records that in its session's fault note
 * (common/fault_note.h). Functions of gshare do it, whose accesses to .global are not fenced: their
 * address comes from a variable that the worker writes, so no tenant can choose it.
 *
 * The thread that raises the count to 1 is the first, and only that thread writes the rest. The
 * note is complete when the kernel is. `where` is stored last, for a reader that looks before that.
 */
#include "ptx/rewrite/fault_text.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/ir/arena.h"
#include "ptx/rewrite/reach.h"

/* In .global memory, because each launch of a module that has .const variables takes 0.1 to 0.2 us
 * longer on an H200, whether they are read or not. */
const char fault_variable_text[] = " .global .align 16 .b64 " FAULT_VARIABLE "[2];";

/* This ends the thread, and no other thread. */
const char fault_trapped_text[] =
    " .func gshare$trapped (.param .b64 gshare$where)"
    " { .reg .pred %p; .reg .b64 %rd<3>;"
    " ld.global.b64 %rd0, [" FAULT_VARIABLE "]; setp.eq.s64 %p, %rd0, 0; @%p exit;"
    " atom.global.add.u64 %rd1, [%rd0], 1; setp.ne.s64 %p, %rd1, 0; @%p exit;"
    " ld.global.b64 %rd1, [" FAULT_VARIABLE "+8]; ld.param.b64 %rd2, [gshare$where];"
    " st.volatile.global.b64 [%rd0+8], %rd1; membar.sys;"
    " st.volatile.global.b64 [%rd0+24], %rd2; exit; }";

const char fault_stray_text[] =
    " .func gshare$stray (.param .b64 gshare$where, .param .b64 gshare$address)"
    " { .reg .pred %p; .reg .b64 %rd<4>;"
    " ld.global.b64 %rd0, [" FAULT_VARIABLE "]; setp.eq.s64 %p, %rd0, 0; @%p ret;"
    " atom.global.add.u64 %rd1, [%rd0+32], 1; setp.ne.s64 %p, %rd1, 0; @%p ret;"
    " ld.global.b64 %rd1, [" FAULT_VARIABLE "+8]; ld.param.b64 %rd2, [gshare$where];"
    " ld.param.b64 %rd3, [gshare$address];"
    " st.volatile.global.b64 [%rd0+40], %rd1; st.volatile.global.b64 [%rd0+48], %rd3; membar.sys;"
    " st.volatile.global.b64 [%rd0+56], %rd2; ret; }";
static_assert(offsetof(struct fault_notes, stray) == 32, "as the text");

/* By ptx_func.id: the only kernel that reaches the function, as reach_owner says. NULL: no memory.
 */
static uint32_t *find_kernels(const struct ptx_module *m)
{
    uint32_t *kernels = malloc(((size_t)m->nfuncs + 1) * sizeof(*kernels));
    struct reach reach;

    reach_init(&reach, m);
    for (uint32_t i = 0; kernels && i < m->nfuncs; i++)
        kernels[i] = m->funcs[i]->entry ? i : REACH_NONE;
    if (kernels && !reach.failed)
        reach_owner(&reach, kernels);
    if (reach.failed) {
        free(kernels);
        kernels = NULL;
    }
    reach_deinit(&reach);
    return kernels;
}

static bool fill(struct ptx_fault_names *names, const struct ptx_module *m, const uint32_t *kernels)
{
    size_t bytes = ((size_t)m->nfuncs + 1) * sizeof(*names->functions) + 4096;

    for (uint32_t i = 0; i < m->nfuncs; i++)
        bytes += strlen(m->funcs[i]->name) + 32;
    names->memory = arena_new(bytes);
    if (names->memory)
        names->functions =
            arena_alloc(names->memory, ((size_t)m->nfuncs + 1) * sizeof(*names->functions));
    for (uint32_t i = 0; names->functions && i < m->nfuncs; i++) {
        const char *name = m->funcs[i]->name;

        names->functions[i].name = arena_string(names->memory, name, strlen(name));
        if (!names->functions[i].name)
            return false;
    }
    for (uint32_t i = 0; names->functions && i < m->nfuncs; i++)
        if (kernels[i] < m->nfuncs)
            names->functions[i].kernel = names->functions[kernels[i]].name;
    names->count = m->nfuncs;
    return names->functions;
}

bool fault_names_init(struct ptx_fault_names *names, const struct ptx_module *m)
{
    uint32_t *kernels = find_kernels(m);
    const bool good = kernels && fill(names, m, kernels);

    free(kernels);
    if (!good)
        fault_names_deinit(names);
    return good;
}

void fault_names_deinit(struct ptx_fault_names *names)
{
    arena_free(names->memory);
    memset(names, 0, sizeof(*names));
}

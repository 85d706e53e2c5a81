/* A kernel that traps, asserts or strays writes that into its session's fault record
 * (common/fault_record.h). Functions of the house do it, whose accesses to .global the fence leaves
 * alone; their address comes from a constant that the worker writes, and is no tenant's to choose.
 *
 * The thread that makes the count 1 is the first, and alone writes the rest. The record is complete
 * when the kernel is: whoever reads before that sees `where` last. */
#include "ptx/rewrite/fault_text.h"

#include <string.h>

#include "ptx/ir/arena.h"
#include "ptx/rewrite/reach.h"

const char fault_variable_text[] = " .const .align 16 .b64 " FAULT_VARIABLE "[2];";

/* The thread ends here, and with it none but itself. */
const char fault_trapped_text[] =
    " .func gshare$trapped (.param .b64 gshare$where)"
    " { .reg .pred %p; .reg .b64 %rd<3>;"
    " ld.const.b64 %rd0, [" FAULT_VARIABLE "]; setp.eq.s64 %p, %rd0, 0; @%p exit;"
    " atom.global.add.u64 %rd1, [%rd0], 1; setp.ne.s64 %p, %rd1, 0; @%p exit;"
    " ld.const.b64 %rd1, [" FAULT_VARIABLE "+8]; ld.param.b64 %rd2, [gshare$where];"
    " st.volatile.global.b64 [%rd0+8], %rd1; membar.sys;"
    " st.volatile.global.b64 [%rd0+24], %rd2; exit; }";

const char fault_stray_text[] =
    " .func gshare$stray (.param .b64 gshare$where, .param .b64 gshare$address)"
    " { .reg .pred %p; .reg .b64 %rd<4>;"
    " ld.const.b64 %rd0, [" FAULT_VARIABLE "]; setp.eq.s64 %p, %rd0, 0; @%p ret;"
    " atom.global.add.u64 %rd1, [%rd0+32], 1; setp.ne.s64 %p, %rd1, 0; @%p ret;"
    " ld.const.b64 %rd1, [" FAULT_VARIABLE "+8]; ld.param.b64 %rd2, [gshare$where];"
    " ld.param.b64 %rd3, [gshare$address];"
    " st.volatile.global.b64 [%rd0+40], %rd1; st.volatile.global.b64 [%rd0+48], %rd3; membar.sys;"
    " st.volatile.global.b64 [%rd0+56], %rd2; ret; }";
static_assert(offsetof(struct fault_records, stray) == 32, "as the text");

bool fault_names_init(struct ptx_fault_names *names, const struct ptx_module *m)
{
    struct reach reach;
    size_t n = m->nfuncs, bytes = n * (sizeof(*names->functions) + sizeof(uint32_t)) + 4096;
    uint32_t *kernel;

    for (size_t i = 0; i < n; i++)
        bytes += strlen(m->funcs[i]->name) + 32;
    names->memory = arena_new(bytes);
    reach_init(&reach, m);
    kernel = names->memory ? arena_alloc(names->memory, (n + 1) * sizeof(*kernel)) : NULL;
    names->functions =
        kernel ? arena_alloc(names->memory, (n + 1) * sizeof(*names->functions)) : NULL;
    for (size_t i = 0; i < n && kernel; i++)
        kernel[i] = m->funcs[i]->entry ? m->funcs[i]->id : REACH_NONE;
    if (names->functions && !reach.failed)
        reach_owner(&reach, kernel);
    for (size_t i = 0; i < n && names->functions && !reach.failed; i++) {
        names->functions[i].name =
            arena_string(names->memory, m->funcs[i]->name, strlen(m->funcs[i]->name));
        reach.failed = !names->functions[i].name;
    }
    for (size_t i = 0; i < n && names->functions && !reach.failed; i++)
        if (kernel[i] < n)
            names->functions[i].kernel = names->functions[kernel[i]].name;
    names->count = names->functions && !reach.failed ? (uint32_t)n : 0;
    reach_deinit(&reach);
    if (names->count == n)
        return true;
    fault_names_deinit(names);
    return false;
}

void fault_names_deinit(struct ptx_fault_names *names)
{
    arena_free(names->memory);
    memset(names, 0, sizeof(*names));
}

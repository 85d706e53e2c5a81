/* Which modules and functions the completion pass leaves alone. The rule: what a kernel did is
 * visible to the host once its last thread did a system-wide release. That holds for generic
 * accesses of its threads. It does not hold for asynchronous work that outlives the threads, or for
 * accesses through another proxy. griddepcontrol is no obstacle: a kernel that uses it waits at its
 * ends for the kernels that it depends on (completion_exits.c). */
#include <string.h>

#include "ptx/rewrite/completion.h"

/* Functions of the driver that have finished all their work when they return. */
static bool is_drivers(const char *name)
{
    static const char *const names[] = {"vprintf", "__assertfail", "malloc", "free"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* The number of registers in the module if each kernel gets as many epilogues as allowed. */
static uint64_t registers_after(const struct ptx_module *m)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < m->nfuncs; i++)
        n += m->funcs[i]->nregs +
             (m->funcs[i]->entry ? COMPLETION_MAX_EPILOGUES * COMPLETION_EPILOGUE_REGS : 0);
    return n;
}

const char *completion_module_obstacle(const struct ptx_module *m)
{
    if (m->address_size != 64)
        return "the module's addresses have 32 bits";
    if (m->version_major < 6 || (m->version_major == 6 && m->version_minor < 2))
        return "the module's PTX version is below 6.2, the first with activemask";
    if (m->sm < 70)
        return "the module's target is below sm_70, the first with a release at system scope";
    if (registers_after(m) > PTX_MAX_MODULE_REGS)
        return "the module has too many registers";
    return NULL;
}

static const char *instruction_obstacle(const struct ptx_func *f, const struct ptx_inst *inst)
{
    switch (inst->op) {
    case PTX_OP_EXIT:
        return f->entry ? NULL : "exit in a function: the thread ends where the pass cannot count";
    case PTX_OP_SUST:
    case PTX_OP_SUST_P:
    case PTX_OP_SURED:
    case PTX_OP_SURED_P:
        return "a surface is written, which a release does not order";
    case PTX_OP_CP_ASYNC_BULK:
    case PTX_OP_CP_REDUCE_ASYNC_BULK:
        return inst->space == PTX_SPACE_GLOBAL
                   ? "a bulk copy writes, which a release does not order"
                   : NULL;
    case PTX_OP_CP_ASYNC_BULK_TENSOR:
    case PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR:
        return inst->space == PTX_SPACE_GLOBAL
                   ? "a tensor copy writes, which a release does not order"
                   : NULL;
    case PTX_OP_FENCE_PROXY:
    case PTX_OP_FENCE_PROXY_TENSORMAP:
    case PTX_OP_MEMBAR_PROXY:
        return "memory is accessed by several proxies";
    case PTX_OP_SETMAXNREG:
        return "warps change their count of registers";
    default:
        return NULL;
    }
}

struct obstacle completion_obstacle(const struct ptx_func *f, bool trapped)
{
    const char *what;

    if (!f->has_body && !f->alias)
        return (struct obstacle){
            f->entry || is_drivers(f->name) ? NULL : "a function that is defined elsewhere",
            f->line};
    for (uint32_t i = 0; i < f->ninsts; i++) {
        what = instruction_obstacle(f, &f->insts[i]);
        if (!what && trapped && trap_pass_ends(&f->insts[i]))
            what = "a trap or an assertion: the thread ends where the pass cannot count";
        if (what)
            return (struct obstacle){what, f->insts[i].line};
    }
    return (struct obstacle){0};
}

bool completion_depends(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_GRIDDEPCONTROL;
}

bool completion_waits(const struct ptx_inst *inst)
{
    switch (ptx_op_class(inst->op)) {
    case PTX_CLASS_BARRIER:
    case PTX_CLASS_MATRIX:
    case PTX_CLASS_MATRIX_LOAD:
    case PTX_CLASS_MATRIX_STORE:
    case PTX_CLASS_WGMMA:
        return true;
    case PTX_CLASS_WARP:
        return inst->op != PTX_OP_ACTIVEMASK;
    default:
        return false;
    }
}

// Binding: when the device has assigned addresses to the variables of a program, they are written
// into the constant pools, and the ranges of constant memory are recorded. Functions have addresses
// before that.
#include "softcuda/lower/lower.h"
#include "softcuda/lower/program.h"

void exec_program_bind(struct exec_program *program, const uint64_t *addresses)
{
    for (size_t i = 0; i < program->nrelocs; i++) {
        const struct pool_reloc *r = &program->relocs[i];
        uint64_t value = addresses[r->var] + (uint64_t)r->addend;
        u64_splat(r->code->pool + r->slot, value);
    }
    const struct ptx_module *m = program->module;
    program->nconsts = 0;
    for (uint32_t i = 0; i < m->nvars; i++)
        if (m->vars[i]->space == PTX_SPACE_CONST)
            program->consts[program->nconsts++] =
                (struct const_range){addresses[i], m->vars[i]->size};
}

uint64_t exec_program_function(const struct exec_program *program, const struct ptx_func *func)
{
    (void)program;
    while (func->alias)
        func = func->alias;
    return MEM_FUNCTION_WINDOW + FUNCTION_STRIDE * ((uint64_t)func->id + 1);
}

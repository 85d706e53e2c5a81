// Lowering: turns the functions of a PTX module into a program, that is, decoded instructions for
// the interpreter.
//
// Owns a program until it is bound; it does not change afterwards. Any thread may call this, but
// only one at a time for each program. The PTX was checked by its reader; what only lowering can
// detect is refused with function and line.
//
// May include: interp.
#ifndef GS_SOFTCUDA_LOWER_PROGRAM_H
#define GS_SOFTCUDA_LOWER_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "softcuda/interp/exec.h"

// Lowers all functions of MODULE, which must live as long as the program. Returns 0 and sets *OUT;
// or -ENOTSUP, with a text in LOG that names the function, line and instruction that is not
// supported, or the undefined extern symbol; or -E2BIG beyond a limit; or -ENOMEM. LOG always ends
// with NUL. A kernel that is refused is left out if another one remains: LOG then has a line for
// each, "KERNEL, line 12: ..." or "KERNEL: it calls FUNCTION, line 12: ...", and is empty
// otherwise.
int exec_program_new(const struct ptx_module *module, struct exec_program **out, char *log,
                     size_t log_size);
void exec_program_free(struct exec_program *program); // NULL is allowed; no block of it may exist

// The kernels of a program are in the order of their appearance.
size_t exec_program_kernel_count(const struct exec_program *program);
const struct exec_kernel *exec_program_kernel(const struct exec_program *program, size_t index);

// The device assigns each .global and .const variable of the module an address in device memory,
// and passes all of them here before anything runs: ADDRESSES, by index in module->vars; 0 for
// variables in other spaces. Then it writes the initial images. It resolves each struct ptx_reloc
// itself, with these addresses and, for functions, exec_program_function.
void exec_program_bind(struct exec_program *program, const uint64_t *addresses);

// The value of FUNC's address in a register or in memory. Never 0.
uint64_t exec_program_function(const struct exec_program *program, const struct ptx_func *func);

#endif

/* NVIDIA's machine code in an ELF file, as ptxas and nvlink write it: what its sections say. Any
 * thread; no state. The file may come from anyone: every size in it is checked before use. */
#ifndef GS_PTX_CUBIN_H
#define GS_PTX_CUBIN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether SIZE bytes at CODE are machine code that keeps nothing in the context from one launch to
 * the next, and takes no address that another load would change: it has no variables, calls neither
 * printf nor malloc, and has no functions beside its kernels, whose addresses it might take.
 * Constants do not count: only a host changes them, and has to ask for their address. False where
 * that is not known, and for what is no such file. */
bool cubin_is_pure(const void *code, size_t size);

#endif

// Programs that cuLink* has compiled and that no module has taken yet: the machine code of the
// software device. The image of a program is its text. So an image that was copied, or kept too
// long, can still be loaded; it is compiled again.
//
// Owns the programs, but only the last few. Any thread may call this.
//
// May include: lower.
#ifndef GS_SOFTCUDA_MODULE_LINKED_H
#define GS_SOFTCUDA_MODULE_LINKED_H

#include <stdbool.h>
#include <stddef.h>

#include "ptx/ptx.h"
#include "softcuda/lower/program.h"

enum { LINKED_MAX = 4 }; // programs kept; a further one drops the oldest

// Compiles the text, whose parsed form is PTX, and keeps the program. Takes ownership of PTX in any
// case. If the program, or one of its kernels, cannot be made, nothing is kept, and loading the
// text reports why.
void linked_put(const char *text, size_t length, struct ptx_module *ptx);
// Returns and forgets the program of this text. False: none is kept.
bool linked_take(const char *text, size_t length, struct ptx_module **ptx,
                 struct exec_program **program);

#endif

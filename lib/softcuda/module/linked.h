// Programs that cuLink* has compiled and that no module has taken yet: the software device's
// machine code. The image of one is its text, so an image that was copied or kept too long still
// loads; it is compiled again.
//
// Owns the programs, the last few only. Any thread runs it.
//
// May include: lower.
#ifndef GS_SOFTCUDA_MODULE_LINKED_H
#define GS_SOFTCUDA_MODULE_LINKED_H

#include <stdbool.h>
#include <stddef.h>

#include "ptx/ptx.h"
#include "softcuda/lower/program.h"

enum { LINKED_MAX = 4 }; // kept; one more drops the oldest

// Compiles the text, of which PTX is the reading, and keeps the program; takes PTX in any case.
// Where the program, or one of its kernels, cannot be made, nothing is kept, and loading the text
// says why.
void linked_put(const char *text, size_t length, struct ptx_module *ptx);
// Gives the program of this text away. False: none is kept.
bool linked_take(const char *text, size_t length, struct ptx_module **ptx,
                 struct exec_program **program);

#endif

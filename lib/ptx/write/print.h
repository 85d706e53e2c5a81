/* Shared by the two halves of the printer. */
#ifndef GS_PTX_PRINT_H
#define GS_PTX_PRINT_H

#include "ptx/ptx.h"

void print_inst(FILE *out, const struct ptx_func *f, const struct ptx_inst *inst);
void print_constant(FILE *out, uint64_t bits, enum ptx_type type);
void print_offset(FILE *out, int64_t offset); /* "+8", nothing for 0 */

#endif

/* Which instructions write a register. Belongs to one call of a pass. */
#ifndef GS_PTX_REWRITE_DEFINITIONS_H
#define GS_PTX_REWRITE_DEFINITIONS_H

#include "ptx/ptx.h"

#define DEFINED_MANY UINT32_MAX

/* By register: 0, or the only instruction that writes it plus 1, or DEFINED_MANY; so for registers
 * that are parameters. The caller's to free(); NULL: no memory. */
uint32_t *definitions_find(const struct ptx_func *f);
/* The only instruction that writes the register, if it always runs; NULL: there is no such
 * instruction. */
const struct ptx_inst *definitions_only(const struct ptx_func *f, const uint32_t *definitions,
                                        uint32_t reg);
/* Sets VALUES, which is by register, to 0 for the registers that the instruction writes. */
void definitions_clear(const struct ptx_inst *inst, uint32_t *values);
bool definitions_writes(const struct ptx_inst *inst, uint32_t reg);

/* Where a function's instructions write each register. */
struct definition_sites {
    uint32_t *first; /* by register, and one more: its first element in ... */
    uint32_t *insts; /* ... the instructions, which are in order for each register */
};

/* False: no memory; then there is nothing to free either. */
bool definition_sites_init(struct definition_sites *sites, const struct ptx_func *f);
void definition_sites_deinit(struct definition_sites *sites);

#endif

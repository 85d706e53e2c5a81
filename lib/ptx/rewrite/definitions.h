/* Which instructions write a register. Belongs to one call of a pass. */
#ifndef GS_PTX_REWRITE_DEFINITIONS_H
#define GS_PTX_REWRITE_DEFINITIONS_H

#include "ptx/ptx.h"

#define DEFINED_MANY UINT32_MAX

/* For each register: 0, or 1 + the only instruction that writes it, or DEFINED_MANY, which
 * registers that are parameters have, too. The caller frees the array; NULL: no memory. */
uint32_t *definitions_find(const struct ptx_func *f);
/* The only instruction that writes the register, if it has no guard; NULL: there is no such
 * instruction. */
const struct ptx_inst *definitions_only(const struct ptx_func *f, const uint32_t *definitions,
                                        uint32_t reg);
/* Sets VALUES[reg] to 0 for each register that the instruction writes. */
void definitions_clear(const struct ptx_inst *inst, uint32_t *values);
bool definitions_writes(const struct ptx_inst *inst, uint32_t reg);

/* For each register of a function, the instructions that write it. */
struct definition_sites {
    uint32_t *first; /* for each register, and one more: the index of its first element in ... */
    uint32_t *insts; /* ... this array of instructions, which are in order for each register */
};

/* False: no memory, and nothing to free. */
bool definition_sites_init(struct definition_sites *sites, const struct ptx_func *f);
void definition_sites_deinit(struct definition_sites *sites);

#endif

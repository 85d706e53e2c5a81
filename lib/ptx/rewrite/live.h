/* Register pressure: how many registers of a function are live at once. Belongs to one call of a
 * pass. */
#ifndef GS_PTX_REWRITE_LIVE_H
#define GS_PTX_REWRITE_LIVE_H

#include "ptx/ptx.h"

/* *MOST: the largest number of live registers, in units of 32 bits, so a 64-bit register counts
 * twice. An instruction's own operands all count at it. UINT32_MAX: following the registers takes
 * more than *STEPS steps from a block to a predecessor. *STEPS is reduced by the steps taken.
 * False: no memory. */
bool live_most(const struct ptx_func *f, uint64_t *steps, uint32_t *most);

#endif

/* How many registers of a function hold a value at once that may still be read. Belongs to one call
 * of a pass. */
#ifndef GS_PTX_REWRITE_LIVE_H
#define GS_PTX_REWRITE_LIVE_H

#include "ptx/ptx.h"

/* *most: the most of them, counted as registers of 32 bits, so that one of 64 bits is two. An
 * instruction's own operands all count there. UINT32_MAX: to follow them takes more than *steps
 * steps from a block to one that comes before it. *steps becomes what is left of them. False: no
 * memory. */
bool live_most(const struct ptx_func *f, uint64_t *steps, uint32_t *most);

#endif

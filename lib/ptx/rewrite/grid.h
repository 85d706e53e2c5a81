/* What identifies code that uses the workspace of a cooperative grid, for grid_sync.c and
 * grid_pass.c. */
#ifndef GS_PTX_REWRITE_GRID_H
#define GS_PTX_REWRITE_GRID_H

#include "ptx/ptx.h"

/* Whether the function reads %envreg1 or %envreg2. */
bool grid_reads_workspace(const struct ptx_func *f);

#endif

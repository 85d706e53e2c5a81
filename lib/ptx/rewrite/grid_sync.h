/* Which kernels of a module synchronise their grid, as cooperative groups' grid.sync() does: the
 * driver passes the barrier's memory in %envreg1 and %envreg2, and without a cooperative launch the
 * two are 0 and the kernel traps, which ends the context for all its users. So a kernel counts that
 * reads one of the two and can trap, itself or in a function that it calls; a kernel that only asks
 * grid_group::is_valid() does not trap.
 *
 * Any thread; no state. Trusts nothing of the text. */
#ifndef GS_PTX_REWRITE_GRID_SYNC_H
#define GS_PTX_REWRITE_GRID_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: no kernel does. */
struct grid_sync {
    uint32_t count;
    const char **names;
    void *memory;
};

/* Whether the text may have barriers of the grid; what follows has to parse it then. */
bool grid_sync_reads(const char *text, size_t len);
/* Fills *OUT, which holds no kernel where the reader cannot read the text. -ENOMEM or 0. A text
 * without %envreg costs a search. */
int grid_sync_find(const char *text, size_t len, struct grid_sync *out);
bool grid_sync_has(const struct grid_sync *kernels, const char *name);
/* The memory that its names take. */
size_t grid_sync_bytes(const struct grid_sync *kernels);
void grid_sync_deinit(struct grid_sync *kernels);

#endif

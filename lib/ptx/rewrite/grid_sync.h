/* Which kernels of a module synchronise their grid, as cooperative groups' grid.sync() does. The
 * driver passes the address of the barrier in %envreg1 and %envreg2. Without a cooperative launch
 * both are 0, and the kernel traps, which ends the context for all its users. So a kernel counts if
 * it reads one of the two and can trap, itself or in a function that it calls; a kernel that only
 * asks grid_group::is_valid() does not trap.
 *
 * Any thread; no state. The text is not trusted. */
#ifndef GS_PTX_REWRITE_GRID_SYNC_H
#define GS_PTX_REWRITE_GRID_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: no kernel synchronises its grid. */
struct grid_sync {
    uint32_t count;
    const char **names;
    void *memory;
};

/* Whether the text may have grid barriers, and so is worth parsing. */
bool grid_sync_reads(const char *text, size_t len);
/* Fills *OUT; it stays empty if the reader cannot read the text. 0 or -ENOMEM. A text without
 * %envreg is only searched, not parsed. */
int grid_sync_find(const char *text, size_t len, struct grid_sync *out);
bool grid_sync_has(const struct grid_sync *kernels, const char *name);
/* The size of its names, in bytes. */
size_t grid_sync_bytes(const struct grid_sync *kernels);
void grid_sync_deinit(struct grid_sync *kernels);

#endif

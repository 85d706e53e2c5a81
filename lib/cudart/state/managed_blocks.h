/*
 * managed_blocks.h - the blocks of managed memory on their way between host and device. The lock of
 * managed_region.h is held. For managed.c and managed_variable.c alone.
 */
#ifndef GS_CUDART_MANAGED_BLOCKS_H
#define GS_CUDART_MANAGED_BLOCKS_H

#include "cudart/abi.h"
#include "cudart/state/managed_region.h"

/* Makes what the call's device needs before it has its first region. */
cudaError_t blocks_start(void);
/* Whether the device's kernels reach the region: its memory, or a copy of the variable. */
bool region_is_reached(const struct region *region, unsigned number);
/* Waits for the work of all devices that reach the region, copies the block back and gives it to
 * the host. Where the session has ended, the host gets what it had last. */
void block_to_host(struct region *region, size_t block);
/* Gives the region's holder, which is the call's device, all blocks of the host. The copies may be
 * under way still. */
gs_status region_to_device(struct region *region);
/* Waits for the copies to the device of that number, which the call enters. */
gs_status blocks_wait(unsigned number);
/* Makes the device the holder of a variable: it gets all blocks by way of the host. */
void region_holder_change(struct region *region, unsigned number);
/* The session of the device of that number ends, and its stream and memory with it. */
void blocks_forget(unsigned number);

#endif

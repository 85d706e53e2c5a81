/*
 * managed_blocks.h - moves the blocks of managed memory between host and device. The caller holds
 * the lock of managed_region.h. Only managed.c and managed_variable.c include it.
 */
#ifndef GS_CUDART_MANAGED_BLOCKS_H
#define GS_CUDART_MANAGED_BLOCKS_H

#include "cudart/abi.h"
#include "cudart/state/managed_region.h"

/* Makes the stream and the pinned block that the call's device needs before its first region. */
cudaError_t blocks_start(void);
/* Whether the device's kernels reach the region: its memory, or a copy of the variable. */
bool region_is_reached(const struct region *region, unsigned number);
/* Waits for the work of all devices that reach the region, then copies the block to the host and
 * gives it to the host. If the session has ended, the host gets the content that it had last. */
void block_to_host(struct region *region, size_t block);
/* Copies all blocks that the host has to the region's holder, which is the call's device, and gives
 * them to it. Does not wait for the copies. */
gs_status region_to_device(struct region *region);
/* Waits for the copies to that device, which becomes the call's device. */
gs_status blocks_wait(unsigned number);
/* Makes the device the holder of a variable. All blocks go there by way of the host. */
void region_holder_change(struct region *region, unsigned number);
/* Forgets the stream and the pinned block of that device, whose session ends. */
void blocks_forget(unsigned number);

#endif

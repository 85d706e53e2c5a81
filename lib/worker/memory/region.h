/*
 * region.h - the device's region: a part of the address space that no other device's worker uses
 * for windows. So the windows that a process has on several devices do not overlap, and what lies
 * in a window can be mapped at the same address by another device's worker.
 *
 * A region only yields hints for cuMemAddressReserve, which the driver follows where the addresses
 * are free. Where the machine has one device, or the region is full, the driver places windows
 * anywhere, also where another device has one; a process with both is told (cudart/state/device.c).
 * Any thread.
 */
#ifndef GS_WORKER_MEMORY_REGION_H
#define GS_WORKER_MEMORY_REGION_H

#include <stdint.h>

/* Returns the size of the region in bytes; 0: the device has no region. */
uint64_t region_size(void);
/* Takes `size` bytes of free addresses that begin at a multiple of `align`; 0: there are none. */
uint64_t region_take(uint64_t size, uint64_t align);
/* Takes these addresses, if they are free and in the region. */
void region_put(uint64_t address, uint64_t size);
/* Frees the addresses that were taken from `address` on; does nothing if there are none. */
void region_give(uint64_t address);

#endif

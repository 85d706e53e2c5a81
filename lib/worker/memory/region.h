/*
 * region.h - the device's region: a part of all addresses that the worker of no other device uses
 * for its sessions' windows. So the windows of a process on several devices lie apart, and what
 * lies in a window can be mapped at the same address by another device's worker.
 *
 * It chooses hints, which the driver follows where it has nothing there. Where the machine has one
 * device, or the region is full, windows lie as they come, and may lie where one of another device
 * does: a process that has both is told (cudart/state/device.c). Any thread.
 */
#ifndef GS_WORKER_MEMORY_REGION_H
#define GS_WORKER_MEMORY_REGION_H

#include <stdint.h>

/* The addresses of the region; 0: the device has none. */
uint64_t region_size(void);
/* Takes so many free addresses, which begin at a multiple of `align`; 0: there are none. */
uint64_t region_take(uint64_t size, uint64_t align);
/* Notes that these are taken, if they are the region's. */
void region_put(uint64_t address, uint64_t size);
/* Gives back what begins there, if it is the region's. */
void region_give(uint64_t address);

#endif

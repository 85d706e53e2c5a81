/*
 * pinned.h - pinned memory: blocks of gs_host_alloc, which all devices of the process are to reach.
 * The sessions of the other devices join each block (gs_host_join), from its allocation on, or from
 * the moment at which they have kernels: a device of which the program only asks something joins
 * nothing. What cannot be joined is said once, and tried again when the device gets another kernel,
 * when it has joined another block, and when the program asks for the address there. Kernels of a
 * fenced session cannot reach the other's addresses: it joins when the program asks for an address
 * of its own. Any thread.
 */
#ifndef GS_CUDART_PINNED_H
#define GS_CUDART_PINNED_H

#include "cudart/abi.h"
#include "gshare.h"

/* Adds memory of gs_host_alloc, of the call's device, to memory_map.h; the other devices join it.
 * False: there is no host memory for it. */
bool pinned_add(void *base, size_t size, unsigned flags);
/* Removes it there and frees it, for all devices. */
cudaError_t pinned_free(void *base, unsigned device);
/* The call's device gets a kernel. At its first one it joins what there is, and at a later one what
 * it could not join before. */
void pinned_begin(void);
/* Where kernels of the call's device reach the address, which is pinned memory, and which that
 * device joins if it has not. False: they do not. */
bool pinned_reach(const void *ptr, gs_devptr *there);
/* Whether kernels of the device reach the address, which is any, as it is. */
bool pinned_reached(unsigned number, const void *ptr);
/* The session of the call's device is to end: the others leave what is its own. */
void pinned_forget(void);

#endif

/*
 * pinned.h - pinned memory: blocks of gs_host_alloc, which all devices of the process should reach.
 * The sessions of the other devices join each block (gs_host_join), when it is allocated, or when
 * they get their first kernel: a device that the program only queries joins nothing. A block that
 * cannot be joined is reported once, and retried when the device gets another kernel, when it has
 * joined another block, and when the program asks for the block's address there. Kernels of a
 * fenced session cannot use the other session's addresses: it joins when the program asks for an
 * address of its own. Any thread.
 */
#ifndef GS_CUDART_PINNED_H
#define GS_CUDART_PINNED_H

#include "cudart/abi.h"
#include "gshare.h"

/* Adds a block of gs_host_alloc, of the call's device, to memory_map.h; the other devices join it.
 * False: no host memory. */
bool pinned_add(void *base, size_t size, unsigned flags);
/* Removes the block from memory_map.h and frees it, for all devices. */
cudaError_t pinned_free(void *base, unsigned device);
/* The call's device gets a kernel. At the first one it joins all blocks, at later ones those that
 * it could not join before. */
void pinned_begin(void);
/* Sets *there to the address of pinned memory for kernels of the call's device, which joins the
 * block if it has not. False: they cannot reach it. */
bool pinned_reach(const void *ptr, gs_devptr *there);
/* Whether kernels of the device can use the address, of any kind of memory, unchanged. */
bool pinned_reached(unsigned number, const void *ptr);
/* The session of the call's device is about to end: the other devices leave its blocks. */
void pinned_forget(void);

#endif

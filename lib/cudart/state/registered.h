/*
 * registered.h - the program's own memory, made reachable for kernels (cudaHostRegister).
 *
 * Kernels only reach memory that the server has made. So when the program first asks for the
 * device's address of registered memory, its pages are exchanged: a block of gs_host_alloc takes
 * over their contents and is mapped in their place, at the same addresses. cudaPointerGetAttributes
 * causes that only for memory that was registered as mapped, since libraries call it just to learn
 * the kind of memory. Before the exchange, or if it is impossible, registered memory stays as it
 * is.
 */
#ifndef GS_CUDART_REGISTERED_H
#define GS_CUDART_REGISTERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/abi.h"

/* The address of PTR, which is in the SIZE registered bytes at BASE, on the call's device.
 * cudaErrorNotSupported: the device cannot reach it; the reason was reported. */
cudaError_t registered_reach(uintptr_t base, size_t size, const void *ptr, void **there);
/* Whether the address is in registered memory that kernels reach; it may be the host's address or
 * that of the device for which the block was made. Returns both; *there is the address on the
 * call's device, or NULL. */
bool registered_find(const void *ptr, void **host, void **there);
/* Gives the memory that begins at PTR pages of its own again. Waits for the session's work. False:
 * there is no memory for the pages, and everything stays as it is. */
bool registered_end(void *ptr);
/* The session is about to end: does the same for all memory. */
void registered_forget(void);

#endif

/*
 * registered.h - memory of the program's own that kernels reach (cudaHostRegister).
 *
 * Kernels reach what the server has made. So when the program first asks where the device has such
 * memory, its pages are exchanged: a block of gs_host_alloc takes over what they hold and is mapped
 * in their place, at the same addresses. cudaPointerGetAttributes asks for that only of memory that
 * was registered to be mapped, since libraries call it for the kind of memory alone. Before the
 * exchange, and where it cannot be, registered memory is left as it is.
 */
#ifndef GS_CUDART_REGISTERED_H
#define GS_CUDART_REGISTERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/abi.h"

/* Where the call's device reaches PTR, in the registered SIZE bytes at BASE. cudaErrorNotSupported:
 * nowhere; the reason has been said. */
cudaError_t registered_reach(uintptr_t base, size_t size, const void *ptr, void **there);
/* Whether the address is one of registered memory that kernels reach, by either of its addresses on
 * the device that it was made for: both, *there on the call's device, or NULL. */
bool registered_find(const void *ptr, void **host, void **there);
/* Gives the memory that begins at PTR pages of its own again. Waits for the session's work. False:
 * there is no memory for them, and all stays as it is. */
bool registered_end(void *ptr);
/* The session is going: the same for all. */
void registered_forget(void);

#endif

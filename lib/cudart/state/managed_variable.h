/* managed_variable.h - __managed__ variables of modules: managed memory at the address where one
 * device's module has the variable, and copies of it where those of other devices have it. Any
 * thread. */
#ifndef GS_CUDART_MANAGED_VARIABLE_H
#define GS_CUDART_MANAGED_VARIABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "cudart/abi.h"
#include "gshare.h"

/* Makes a __managed__ variable of a loaded module managed memory. cudaErrorNotSupported: the server
 * has not given the variable whole pages of the window. The caller removes it before it unloads the
 * module. */
cudaError_t managed_add_variable(void *base, size_t size);
/* Tells where the module of the call's device has its copy of such a variable, which is at `base`.
 * Each device has the value in its own copy while it works. */
cudaError_t managed_copy_variable(const void *base, gs_devptr copy);
void managed_remove_variable(void *base);
/* Whether a device has a copy of one. The lock of managed_region.h is held. */
bool managed_variables_have_copies(void);
/* The call's device is to be reset: of each variable that another device has too, that one gets the
 * value. The session and its streams are there still. */
void managed_variables_give(void);

#endif

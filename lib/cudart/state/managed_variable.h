/* managed_variable.h - __managed__ variables of modules. Such a variable is managed memory at its
 * address in one device's module; the modules of other devices have copies of it. Any thread. */
#ifndef GS_CUDART_MANAGED_VARIABLE_H
#define GS_CUDART_MANAGED_VARIABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "cudart/abi.h"
#include "gshare.h"

/* Makes a __managed__ variable of a loaded module managed memory. cudaErrorNotSupported: the
 * variable does not have whole pages of the window. The caller removes the variable before it
 * unloads the module. */
cudaError_t managed_add_variable(void *base, size_t size);
/* Adds the copy that the module of the call's device has of the variable at `base`. While a device
 * works, the value is in its own copy. */
cudaError_t managed_copy_variable(const void *base, gs_devptr copy);
void managed_remove_variable(void *base);
/* Whether any variable has a copy. The caller holds the lock of managed_region.h. */
bool managed_variables_have_copies(void);
/* Before a reset of the call's device: moves the value of each variable that another device has as
 * well to that device. The session and its streams still exist. */
void managed_variables_give(void);

#endif

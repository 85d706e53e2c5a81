/*
 * pass_variable.h - tells a loaded module what a pass of ptx/rewrite has left a variable for, by
 * the variable's name. Service threads.
 */
#ifndef GS_WORKER_MODULE_PASS_VARIABLE_H
#define GS_WORKER_MODULE_PASS_VARIABLE_H

#include "worker/session_parts.h"

/* Writes the variable, and waits until it is written. *address: where it lies; 0: the compiler has
 * removed it, because no kernel of the module uses it, and nothing was written. Set on success
 * only; NULL: nobody asks. */
CUresult pass_variable_write(const struct module *module, const char *name, const void *bytes,
                             size_t size, CUdeviceptr *address);

#endif

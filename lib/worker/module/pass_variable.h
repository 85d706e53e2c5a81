/*
 * pass_variable.h - writes the variables that passes of ptx/rewrite add to a module for values
 * which are known only when it is loaded. Service threads.
 */
#ifndef GS_WORKER_MODULE_PASS_VARIABLE_H
#define GS_WORKER_MODULE_PASS_VARIABLE_H

#include "worker/session_parts.h"

/* Writes the variable of that name, and waits until it is written. *address: where it lies; 0: the
 * compiler has removed it, because no kernel of the module uses it, and nothing was written. It is
 * set on success only; `address` may be NULL. */
CUresult pass_variable_write(const struct module *module, const char *name, const void *bytes,
                             size_t size, CUdeviceptr *address);

#endif

/*
 * constant.h - tells a loaded module a constant that a pass of ptx/rewrite has put into it: a
 * variable of the module's constant memory, by its name. Service threads.
 */
#ifndef GS_WORKER_MODULE_CONSTANT_H
#define GS_WORKER_MODULE_CONSTANT_H

#include "worker/session_parts.h"

/* Writes the constant, and waits until it is written. *address: where the constant lies; 0: the
 * compiler has removed it, because no kernel of the module uses it, and nothing was written. The
 * address is set on success only. */
CUresult module_constant_write(const struct module *module, const char *name, const void *bytes,
                               size_t size, CUdeviceptr *address);

#endif
